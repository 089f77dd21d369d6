/**
 * How often streaming text is rendered. A rendering that took long is followed by a pause of four times its cost, so that
 * rendering never takes more than a fifth of the time, however long a single block grows.
 */
const PAUSE_PER_COST = 4;
export const PAUSE_MAX_MS = 500;

/** Milliseconds to wait before the next rendering; 0: now. */
export function pauseMs(last: { readonly endedAt: number; readonly costMs: number }, now: number): number {
  const pause = Math.min(PAUSE_MAX_MS, last.costMs * PAUSE_PER_COST);
  return Math.max(0, Math.ceil(last.endedAt + pause - now));
}
