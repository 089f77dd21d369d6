/** Long output is shown in part: the page stays fast, and one click shows more. */
export const SHOWN_LINES_STEP = 200;
/** A line without end is cut here; the whole is in the log. */
export const LINE_CHARS_MAX = 4000;

export function clipLines(text: string, linesMax: number): { readonly text: string; readonly hidden: number } {
  let end = 0;
  let lines = 0;
  while (lines < linesMax) {
    const next = text.indexOf("\n", end);
    if (next === -1) return { text: clipLong(text), hidden: 0 };
    end = next + 1;
    lines++;
  }
  const rest = text.slice(end);
  const hidden = rest === "" ? 0 : rest.split("\n").length - (rest.endsWith("\n") ? 1 : 0);
  return { text: clipLong(text.slice(0, Math.max(0, end - 1))), hidden };
}

function clipLong(text: string): string {
  if (text.length <= LINE_CHARS_MAX) return text;
  return text
    .split("\n")
    .map((line) => (line.length <= LINE_CHARS_MAX ? line : `${line.slice(0, LINE_CHARS_MAX)} …`))
    .join("\n");
}
