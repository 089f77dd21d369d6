/**
 * Finds secrets in texts: the leftmost, and where two begin together the longer one. Pure.
 *
 * Every engine here answers alike for a text as a whole and for the same text in pieces (see `stream-redactor.ts`), so what
 * a person watched and what was sealed are the same.
 */

/** What stands in the place of a secret. */
export const secretMark = "[secret]";

/** Named tokens of this product are stored as hashes alone; by their look they are known all the same. */
const tokenStart = "varve_";
const tokenChars = 43;
const tokenSource = `${tokenStart}[A-Za-z0-9_-]{${tokenChars}}`;
const tokenBegins = /^varve_[A-Za-z0-9_-]*$/;

/** Texts of which not even this much of a secret shows are not thought to begin one, when they are cut off. */
const cutCharsMin = 8;
/** The same for what only looks like a named token: the beginning of one is also how names of files and variables begin. */
const cutTokenCharsMin = tokenStart.length + 16;

export interface Matcher {
  /** The first secret at or behind `from`; null: none is there as a whole. */
  next(text: string, from: number): { readonly start: number; readonly end: number } | null;
  /** Where, at or behind `from`, the text ends in what may become a secret; its length where it does not. */
  openAt(text: string, from: number): number;
  /** Where a text that was cut off ends in so much of a secret's beginning that it counts as one; its length where not. */
  cutAt(text: string): number;
}

export function createMatcher(forms: readonly string[]): Matcher {
  const longest = Math.max(tokenStart.length + tokenChars, ...forms.map((form) => form.length));
  const source = [...forms.toSorted((a, b) => b.length - a.length).map(escaped), tokenSource].join("|");
  const pattern = new RegExp(source, "g");
  const byFirst = new Map<string, string[]>();
  for (const form of forms) byFirst.set(form.charAt(0), [...(byFirst.get(form.charAt(0)) ?? []), form]);
  const mayBeginForm = (end: string): boolean =>
    (byFirst.get(end.charAt(0)) ?? []).some((form) => form.length > end.length && form.startsWith(end));
  const mayBegin = (end: string): boolean => mayBeginForm(end) || (end.charAt(0) === "v" && isOpenToken(end));
  return {
    next(text, from) {
      pattern.lastIndex = from;
      const found = pattern.exec(text);
      return found === null ? null : { start: found.index, end: found.index + found[0].length };
    },
    openAt(text, from) {
      for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
        const first = text.charAt(at);
        if ((byFirst.has(first) || first === "v") && mayBegin(text.slice(at))) return at;
      }
      return text.length;
    },
    cutAt(text) {
      for (let at = Math.max(0, text.length - longest + 1); at <= text.length - cutCharsMin; at++) {
        const end = text.slice(at);
        if (mayBeginForm(end) || (end.length >= cutTokenCharsMin && isOpenToken(end))) return at;
      }
      return text.length;
    },
  };
}

const isOpenToken = (end: string): boolean =>
  tokenStart.startsWith(end) || (end.length < tokenStart.length + tokenChars && tokenBegins.test(end));

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** The text without secrets. The very same string where there are none. */
export function redactText(matcher: Matcher, text: string): string {
  let clean = "";
  let from = 0;
  for (let found = matcher.next(text, 0); found !== null; found = matcher.next(text, from)) {
    clean += text.slice(from, found.start) + secretMark;
    from = found.end;
  }
  return from === 0 ? text : clean + text.slice(from);
}

/** The last of a text that was cut off: enough of a secret's beginning is replaced as well. */
export function redactCut(matcher: Matcher, text: string): string {
  const at = matcher.cutAt(text);
  return at < text.length ? text.slice(0, at) + secretMark : text;
}
