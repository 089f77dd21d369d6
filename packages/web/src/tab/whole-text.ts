import type { LogChunk } from "@varve/protocol";
import { LINE_CHARS_MAX } from "../tools/clip-lines.ts";
import { terminalText } from "../tools/terminal-text.ts";

/** All that a row says, as plain text: Markdown of this length would hold up the page, and is not what one looks for in it. */
export function wholeText(row: LogChunk): string {
  switch (row.type) {
    case "text":
    case "thinking":
      return row.data.text;
    case "tool_result":
      return terminalText(row.data.result);
    case "tool_call":
      return row.data.argsText;
    default:
      return JSON.stringify(row.data, null, 2);
  }
}

/** A line without end is broken where it would be cut, so that all of it can be read. */
export function breakLines(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.length <= LINE_CHARS_MAX ? line : pieces(line).join("\n")))
    .join("\n");
}

function pieces(line: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < line.length; at += LINE_CHARS_MAX) parts.push(line.slice(at, at + LINE_CHARS_MAX));
  return parts;
}
