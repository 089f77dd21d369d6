/**
 * What a person is asked to allow must look like what it is. Characters that show nothing, look like a blank, or turn the
 * order of what stands beside them are written out: `⟨U+202E⟩`.
 */

/** All but the plain blank, tab and line end. Hangul fillers and the Braille blank count as letters and show nothing. */
export const DISGUISES = /(?![ \t\n])[\p{C}\p{Z}\u115f\u1160\u2800\u3164\uffa0]|\u034f/gu;
/** In a file's text blanks and joiners have their use, and a return at the end of a line is its form. */
const REORDERING = /(?![\t\n\r])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export const written = (char: string): string =>
  `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** A command, a path or an address. */
export const visibleText = (text: string): string => text.replace(DISGUISES, written);
/** The lines of a change. */
export const visibleDiff = (diff: string): string => diff.replace(REORDERING, written);
/** A title or a name: letters of all scripts keep their order, nothing in it turns that of its surroundings. */
export const visibleName = (name: string): string => name.replace(REORDERING, written);

/** Lines that are seen without scrolling. */
const LINES_MAX = 8;
const CHARS_MAX = 500;

/** A word about what cannot be seen at once; "" for short texts. */
export function lengthWarning(command: string): string {
  const lines = command.split("\n").length;
  if (lines <= LINES_MAX && command.length <= CHARS_MAX) return "";
  const what = lines === 1 ? `${command.length} characters` : `${lines} lines, ${command.length} characters`;
  return `A long command (${what}): scroll to its end before you allow it.`;
}
