import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayAt, daysUntil, hereOffset, type OffsetAt } from "./local-day.ts";

/** A real place, by the time zone data of the runtime. */
function place(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const at = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const shown = Date.UTC(at("year"), at("month") - 1, at("day"), at("hour"), at("minute"), at("second"));
    return Math.round((shown - Math.floor(ms / 1000) * 1000) / 60_000);
  };
}
const hours = (from: number, to: number): number => (to - from) / 3_600_000;

describe("a local day", () => {
  test.each([
    ["UTC", "2026-11-30T12:00:00Z", "2026-11-30", "2026-11-30T00:00:00.000Z", 24],
    ["Europe/Berlin", "2026-11-29T23:30:00Z", "2026-11-30", "2026-11-29T23:00:00.000Z", 24],
    ["Europe/Berlin, clocks put forward", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00.000Z", 23],
    ["Europe/Berlin, clocks put back", "2026-10-25T23:59:59Z", "2026-10-26", "2026-10-25T23:00:00.000Z", 24],
    ["Europe/Berlin, the long day", "2026-10-25T00:30:00Z", "2026-10-25", "2026-10-24T22:00:00.000Z", 25],
    ["America/New_York", "2026-11-01T06:00:00Z", "2026-11-01", "2026-11-01T04:00:00.000Z", 25],
    ["America/Sao_Paulo, midnight is skipped", "2018-11-04T12:00:00Z", "2018-11-04", "2018-11-04T03:00:00.000Z", 23],
    ["America/Sao_Paulo, midnight comes twice", "2019-02-16T12:00:00Z", "2019-02-16", "2019-02-16T02:00:00.000Z", 25],
    ["Australia/Lord_Howe, half an hour", "2026-10-04T00:00:00Z", "2026-10-04", "2026-10-03T13:30:00.000Z", 23.5],
    ["Asia/Kathmandu", "2026-06-01T18:14:59Z", "2026-06-01", "2026-05-31T18:15:00.000Z", 24],
  ])("%s: %s lies in %s", (zone, at, day, from, length) => {
    const found = dayAt(Date.parse(at), place(zone.split(",")[0] ?? zone));
    expect([found.day, new Date(found.from).toISOString(), hours(found.from, found.to)]).toEqual([day, from, length]);
  });

  test.each(["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"])(
    "in %s every instant lies in its day, and days meet without gap or overlap",
    (zone) => {
      const offsetAt = place(zone);
      const instant = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2026, 11, 31) });
      fc.assert(
        fc.property(instant, (ms) => {
          const { day, from, to } = dayAt(ms, offsetAt);
          expect(from <= ms && ms < to).toBe(true);
          expect(dayAt(from, offsetAt).day).toBe(day);
          expect(dayAt(to, offsetAt).from).toBe(to);
          expect(dayAt(from - 1, offsetAt).to).toBe(from);
        }),
        { numRuns: 150 },
      );
    },
  );

  test("a row of days ascends without a gap and ends with today, across a change of the clocks", () => {
    const days = daysUntil(Date.parse("2026-03-30T10:00:00Z"), 4, place("Europe/Berlin"));
    expect(days.map(({ day }) => day)).toEqual(["2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30"]);
    expect(days.slice(1).map(({ from }) => from)).toEqual(days.slice(0, -1).map(({ to }) => to));
  });

  test("a day that a place leaves out is empty and takes nothing from its neighbours", () => {
    const days = daysUntil(Date.parse("2011-12-31T12:00:00Z"), 3, place("Pacific/Apia"));
    expect(days.map(({ day, from, to }) => [day, hours(from, to)])).toEqual([
      ["2011-12-30", 0],
      ["2011-12-31", 24],
      ["2012-01-01", 24],
    ]);
  });

  test("here is where the process runs", () => {
    const noon = new Date(2026, 5, 15, 12).getTime();
    expect(dayAt(noon, hereOffset)).toEqual({
      day: "2026-06-15",
      from: new Date(2026, 5, 15).getTime(),
      to: new Date(2026, 5, 16).getTime(),
    });
  });
});
