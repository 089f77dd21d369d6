import type { UsageBody } from "@varve/protocol";

type Day = UsageBody["days"][number];

export interface DayBar {
  readonly day: string;
  readonly price: number;
  readonly unpriced: number;
  /** Height between 0 and 1 against the dearest day; what cost anything at all, or nobody knows how much, can be seen. */
  readonly height: number;
}

const SEEN_HEIGHT = 0.02;

export function dayBars(days: readonly Day[]): readonly DayBar[] {
  const most = Math.max(0, ...days.map(({ sum }) => sum.price));
  return days.map(({ day, sum: { price, unpriced } }) => {
    const height = most === 0 ? 0 : price / most;
    return { day, price, unpriced, height: price > 0 || unpriced > 0 ? Math.max(SEEN_HEIGHT, height) : 0 };
  });
}

/** `2026-11-30` as a person says it. The day is the server's: no zone of the browser may move it. */
export function dayText(day: string, locale?: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  return at.toLocaleDateString(locale, { day: "numeric", month: "short", timeZone: "UTC" });
}
