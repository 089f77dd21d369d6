/**
 * The days of a place, as its clocks show them. Pure: the place is a function that tells how far its clocks are ahead of UTC
 * at an instant, so a day has 23 or 25 hours where they are changed.
 */

/** Minutes ahead of UTC at an instant, in milliseconds since 1970. */
export type OffsetAt = (ms: number) => number;

export interface LocalDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** The first millisecond of the day, and the first one behind it. */
  readonly from: number;
  readonly to: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Where this process runs. */
export const hereOffset: OffsetAt = (ms) => -new Date(ms).getTimezoneOffset();

export const dayAt = (ms: number, offsetAt: OffsetAt): LocalDay => dayOfNumber(numberAt(ms, offsetAt), offsetAt);

/** `count` days, ascending and without a gap; the last one is that of `ms`. */
export function daysUntil(ms: number, count: number, offsetAt: OffsetAt): readonly LocalDay[] {
  const last = numberAt(ms, offsetAt);
  return Array.from({ length: count }, (_, at) => dayOfNumber(last - count + 1 + at, offsetAt));
}

/** Days are counted by what a calendar on the wall shows: 0 is 1970-01-01. */
const numberAt = (ms: number, offsetAt: OffsetAt): number => Math.floor((ms + offsetAt(ms) * minuteMs) / dayMs);

const dayOfNumber = (number: number, offsetAt: OffsetAt): LocalDay => ({
  day: new Date(number * dayMs).toISOString().slice(0, 10),
  from: startOf(number, offsetAt),
  to: startOf(number + 1, offsetAt),
});

/**
 * The instant at which the clocks came to this day. They are changed at most once around it, so it is midnight by the offset
 * of the day before or by that of the day after; where midnight itself is skipped, the first of the two is the very change.
 */
function startOf(number: number, offsetAt: OffsetAt): number {
  const midnight = number * dayMs;
  const [early, late] = [midnight - dayMs, midnight + dayMs].map((ms) => midnight - offsetAt(ms) * minuteMs);
  const candidates = [early ?? midnight, late ?? midnight];
  const isStart = (ms: number): boolean => numberAt(ms, offsetAt) >= number && numberAt(ms - 1, offsetAt) < number;
  return candidates.find(isStart) ?? Math.max(...candidates);
}
