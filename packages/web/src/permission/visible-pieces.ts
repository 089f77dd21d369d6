/**
 * Where a text that a person is asked to allow holds something that cannot be seen, or letters that look like others. The
 * pieces are together what `visibleText` shows.
 */
import { DISGUISES, visibleText, written } from "../tools/visible-text.ts";

export interface VisiblePiece {
  readonly text: string;
  /** A character that shows nothing or turns the order, written out. */
  readonly odd: boolean;
}

export function visiblePieces(text: string): readonly VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  let from = 0;
  for (const match of text.matchAll(DISGUISES)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), odd: false });
    pieces.push({ text: written(match[0]), odd: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), odd: false });
  return pieces;
}

/** A word that holds Latin letters and such of a script with the same shapes. Words of one script are what they seem. */
const OTHERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Full-width and mathematical forms of Latin letters: no shell and no file system takes them for these. */
const FORMS = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const NAMED_MAX = 4;

/** Letters that a reader takes for others, named; "" without any. */
export function lookalikes(text: string): string {
  const found = new Map<string, string>();
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{N}\uff01-\uff5e]+/gu)) {
    const mixed = /\p{Script=Latin}/u.test(word.replace(/[\uff01-\uff5e]/g, "")) && OTHERS.test(word);
    for (const char of word) {
      if (FORMS.test(char) || (mixed && OTHERS.test(char))) found.set(char, word);
    }
  }
  if (found.size === 0) return "";
  const named = [...found].slice(0, NAMED_MAX).map(([char, word]) => `${codeOf(char)} in “${visibleText(word)}”`);
  const more = found.size > NAMED_MAX ? ` and ${found.size - NAMED_MAX} more` : "";
  return `Holds letters that look like others: ${named.join(", ")}${more}.`;
}

const codeOf = (char: string): string => `${char} (${written(char).slice(1, -1)})`;

/** What a person must know before reading the text; "" for plain ones. */
export function disguiseWarning(text: string): string {
  const hidden = [...text.matchAll(DISGUISES)].length;
  const what = hidden === 1 ? "1 character that shows nothing" : `${hidden} characters that show nothing`;
  const said = hidden === 0 ? "" : `Holds ${what} or turns the order of the text: written out and marked.`;
  return [said, lookalikes(text)].filter((part) => part !== "").join(" ");
}
