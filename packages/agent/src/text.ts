/** Small pure functions on texts that go into rows. */

const loneSurrogates = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The same text with U+FFFD in the place of each half of a pair whose other half is missing. */
export const wellFormedText = (text: string): string => text.replace(loneSurrogates, "\uFFFD");

/** At most `max` UTF-16 units from the front, never ending in half a pair. */
export function clipText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? max - 1 : max);
}

export const hasInk = (text: string): boolean => /\S/.test(text);
