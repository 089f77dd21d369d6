/** The middle value, or the mean of the two middle ones. Of nothing, NaN. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that at least this share (0 to 1) of the values does not pass. Of nothing, NaN. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** One decimal is what a clock of this kind can honestly say. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** For ratios and for what takes microseconds. */
export const thousandths = (value: number): number => Math.round(value * 1000) / 1000;
