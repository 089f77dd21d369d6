/**
 * Terminal output as plain text: colours and cursor moves are removed, a carriage return overwrites its line, a backspace
 * takes one character back. Enough for progress bars; programs that draw a whole screen are not for this view.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
const CONTROLS = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]/g;

export function terminalText(raw: string): string {
  const plain = raw.includes("\x1b") ? raw.replace(ESCAPES, "") : raw;
  if (!/[\r\b]/.test(plain)) return plain.replace(CONTROLS, "");
  return plain.replace(/\r+\n/g, "\n").split("\n").map(overwrite).join("\n").replace(CONTROLS, "");
}

function overwrite(line: string): string {
  if (!/[\r\b]/.test(line)) return line;
  const cells: string[] = [];
  let at = 0;
  for (const char of line) {
    if (char === "\r") at = 0;
    else if (char === "\b") at = Math.max(0, at - 1);
    else cells[at++] = char;
  }
  return cells.join("");
}

/** The last lines of growing output. */
export function tailLines(text: string, linesMax: number): string {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let lines = 0; lines < linesMax; lines++) {
    at = text.lastIndexOf("\n", at - 1);
    if (at <= 0) return text;
  }
  return text.slice(at + 1);
}
