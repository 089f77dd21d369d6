/**
 * Patterns of permission rules, matched in time that grows with pattern and text alone: rules may come from a workspace that
 * nobody has looked at yet, so none of them may be able to hang the server.
 *
 * Over commands and addresses `*` stands for any text and `?` for one character. Over paths `*` and `?` stay within a name,
 * and `**` as a whole name stands for any number of directories. A backslash before `*`, `?` or `\\` takes it literally.
 */

/** Whether the pattern fits the whole text. */
export function fitsText(pattern: string, text: string): boolean {
  return fits(signsOf(pattern), {
    length: text.length,
    one: (sign, at) => sign === "?" || sign.at(-1) === text[at],
    isMany: (sign) => sign === "*",
  });
}

/** The characters of a pattern; one that is taken literally keeps its backslash. */
const signsOf = (pattern: string): readonly string[] => pattern.match(/\\[*?\\]|[\s\S]/g) ?? [];

/** The pattern that fits exactly this text. */
export const literally = (text: string): string => text.replace(/[*?\\]/g, "\\$&");

/** The text with which all that a pattern fits begins; whether the pattern fits nothing else; whether any text may follow. */
export function startOf(pattern: string): {
  readonly text: string;
  readonly isWhole: boolean;
  readonly isOpen: boolean;
} {
  const signs = signsOf(pattern);
  const at = signs.findIndex((sign) => sign === "*" || sign === "?");
  const text = (at === -1 ? signs : signs.slice(0, at)).map((sign) => sign.at(-1)).join("");
  return { text, isWhole: at === -1, isOpen: signs.at(-1) === "*" };
}

/** Whether the pattern fits any text that begins so. */
export function mayFit(pattern: string, start: string): boolean {
  const signs = signsOf(pattern);
  let places = new Set([0]);
  const spread = (): void => {
    for (const place of places) if (signs[place] === "*") places.add(place + 1);
  };
  for (let at = 0; at < start.length; at++) {
    spread();
    const next = new Set<number>();
    for (const place of places) {
      const sign = signs[place];
      if (sign === "*") next.add(place);
      else if (sign === "?" || sign?.at(-1) === start[at]) next.add(place + 1);
    }
    places = next;
    if (places.size === 0) return false;
  }
  return true;
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
