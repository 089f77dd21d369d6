/** Names of environment variables that no child may see. Pure. */

/** A name, or a part of one with a `*` in front, behind, or both. */
export const hiddenNamePattern = /^\*?[A-Za-z0-9_]{2,100}\*?$/;

/** Whether a variable is among the hidden ones. Names are compared without case, as some systems do. */
export function hiddenNames(hidden: readonly string[]): (name: string) => boolean {
  const sources = hidden.map((name) => `^${name.replace(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*")}$`);
  const patterns = sources.map((source) => new RegExp(source, "i"));
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** Variables that hold places and names. Hidden or not, what they hold is no secret and would be replaced all over. */
const plain = new Set(
  "PATH HOME PWD OLDPWD SHELL USER LOGNAME USERNAME HOSTNAME LANG LANGUAGE TERM TMPDIR TEMP TMP EDITOR VISUAL DISPLAY".split(
    " ",
  ),
);

/** What the hidden variables hold, as far as it may be a secret. */
export function hiddenValues(
  env: Readonly<Record<string, string | undefined>>,
  hidden: readonly string[],
): readonly string[] {
  const isHidden = hiddenNames(hidden);
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isHidden(name) && !plain.has(name.toUpperCase()) ? [value] : [],
  );
}
