const DAY_MS = 86_400_000;

/** A time of day; with the date when it is more than a day ago. In the language of the browser. */
export function timeText(at: number, now: number, locale?: string): string {
  const date = new Date(at);
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  return Math.abs(now - at) < DAY_MS
    ? date.toLocaleTimeString(locale, time)
    : date.toLocaleString(locale, { ...time, day: "numeric", month: "short" });
}
