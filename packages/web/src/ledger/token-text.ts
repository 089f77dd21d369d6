import { countText } from "../tab/usage.ts";

/** Shown where nothing was told; screen readers hear `NOT_TOLD`. */
export const NOT_TOLD = "not told";

export const tokensOr = (tokens: number | null): string => (tokens === null ? NOT_TOLD : countText(tokens));

/** A share in percent; null without a whole. Only all of it is 100 %: a loss is never rounded away. */
export function shareText(part: number, whole: number): string | null {
  if (whole <= 0) return null;
  const share = Math.max(0, part / whole);
  if (share >= 1) return "100 %";
  const percent = Math.floor(share * 1000) / 10;
  return `${percent.toFixed(percent < 10 || percent % 1 !== 0 ? 1 : 0)} %`;
}

/** Between 0 and 1, for meters. */
export const shareOf = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
