/** The middle value, or the mean of the two middle ones. Of nothing, NaN. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** One decimal is what a clock of this kind can honestly say. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
