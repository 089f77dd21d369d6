/**
 * Patterns of permission rules, matched in time that grows with pattern and text alone: rules may come from a workspace that
 * nobody has looked at yet, so none of them may be able to hang the server.
 *
 * Over commands and addresses `*` stands for any text and `?` for one character. Over paths `*` and `?` stay within a name,
 * and `**` as a whole name stands for any number of directories.
 */

/** Whether the pattern fits the whole text. */
export function fitsText(pattern: string, text: string): boolean {
  return fits(pattern.split(""), {
    length: text.length,
    one: (part, at) => part === "?" || part === text[at],
    isMany: (part) => part === "*",
  });
}

/** Whether the pattern fits the whole of an absolute path. A pattern that ends in `/` fits everything below. */
export function fitsPath(pattern: string, path: string): boolean {
  const names = path.split("/");
  const parts = (pattern.endsWith("/") ? `${pattern}**` : pattern).split("/");
  return fits(parts, {
    length: names.length,
    one: (part, at) => fitsText(part, names[at] ?? ""),
    isMany: (part) => part === "**",
  });
}

interface Sequence {
  readonly length: number;
  readonly one: (part: string, at: number) => boolean;
  readonly isMany: (part: string) => boolean;
}

/** Greedy with one place to come back to: the last "many" taken is the only one that ever has to grow. */
function fits(parts: readonly string[], { length, one, isMany }: Sequence): boolean {
  let part = 0;
  let at = 0;
  let many = -1;
  let manyAt = 0;
  while (at < length) {
    const wanted = parts[part];
    if (wanted !== undefined && isMany(wanted)) {
      many = part;
      manyAt = at;
      part += 1;
    } else if (wanted !== undefined && one(wanted, at)) {
      part += 1;
      at += 1;
    } else if (many !== -1) {
      part = many + 1;
      manyAt += 1;
      at = manyAt;
    } else return false;
  }
  while (part < parts.length && isMany(parts[part] ?? "")) part += 1;
  return part === parts.length;
}
