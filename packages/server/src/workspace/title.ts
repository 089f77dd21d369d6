const titleChars = 60;

/** A tab's first title: the first line of its first message, cut at a word. */
export function titleOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  if (line.length <= titleChars) return line;
  const cut = line.slice(0, titleChars);
  const space = cut.lastIndexOf(" ");
  return `${(space > titleChars / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}
