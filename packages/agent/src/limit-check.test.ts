import { describe, expect, test } from "vitest";
import { checkLimits } from "./limit-check.ts";
import type { Spending } from "./ports.ts";
import { RowList } from "./testing/rows.ts";

const free = { kind: "free" } as const;
const reached = (limit: string, used: number, max: number) => ({ kind: "reached", reached: { limit, used, max } });

interface Case {
  readonly stepsMax?: number;
  readonly tab?: readonly [price: number, max: number | null, unpriced?: number];
  readonly day?: readonly [price: number, max: number | null, unpriced?: number];
  readonly dayFrom?: number;
  readonly priced?: boolean;
}

function check(rows: RowList, given: Case = {}) {
  const spent = ([price, max, unpriced]: readonly [number, number | null, number?] = [0, null]) => ({
    price,
    max,
    unpriced: unpriced ?? 0,
  });
  const day = { ...spent(given.day), ...(given.dayFrom !== undefined && { from: given.dayFrom }) };
  const spending: Spending = { stepsMax: given.stepsMax ?? 200, tab: spent(given.tab), day };
  return checkLimits({ turn: rows.rows, spending, priced: given.priced ?? true });
}

const begun = () => new RowList().user("go");
/** A finished step of known price. */
const steps = (rows: RowList, count: number): RowList => {
  for (let i = 0; i < count; i++) rows.request().usage({ price: 0.1 });
  return rows;
};

describe("which limit", () => {
  test.each<[string, RowList, Case, unknown]>([
    ["nothing set", steps(begun(), 5), {}, free],
    ["steps below", steps(begun(), 2), { stepsMax: 3 }, free],
    ["steps", steps(begun(), 3), { stepsMax: 3 }, reached("turn-steps", 3, 3)],
    ["a retried request counts", steps(begun().request().voided(), 2), { stepsMax: 3 }, reached("turn-steps", 3, 3)],
    ["tab money below", steps(begun(), 1), { tab: [0.99, 1] }, free],
    ["tab money", steps(begun(), 1), { tab: [1, 1] }, reached("tab-money", 1, 1)],
    ["day money", steps(begun(), 1), { day: [7, 5] }, reached("day-money", 7, 5)],
    ["the first request is asked about too", begun(), { day: [7, 5] }, reached("day-money", 7, 5)],
    ["steps go first", steps(begun(), 3), { stepsMax: 3, day: [7, 5] }, reached("turn-steps", 3, 3)],
    ["a price nobody knows", begun(), { tab: [0, 1], priced: false }, reached("price-unknown", 0, 1)],
    ["a bill without a price", begun().request().usage(), { day: [0, 2] }, reached("price-unknown", 1, 2)],
    ["no money limit, no question", begun().request().usage(), { priced: false }, free],
  ])("[AGENT-100] %s", (_name, rows, given, expected) => {
    expect(check(rows, given)).toEqual(expected);
  });

  test("[AGENT-100] requests that keep warm or sum up are no steps of the turn", () => {
    const rows = steps(begun(), 2);
    for (const purpose of ["warm", "compaction"] as const) {
      rows.system({ kind: "request", model: "script/m", scopeHash: "s", tailHash: "h", purpose });
      rows.usage({ purpose, price: 0 });
    }
    expect(check(rows, { stepsMax: 3 })).toEqual(free);
  });
});

describe("answers", () => {
  test("[AGENT-101] a question that is open is asked no second time, and says so after a restart", () => {
    const rows = steps(begun(), 3).limitAsked("turn-steps", 3, 3);
    expect(check(rows, { stepsMax: 3 })).toMatchObject({ kind: "open", asked: { seq: rows.rows.length } });
  });

  test("[AGENT-102] what was allowed on one day is nothing that another day may spend", () => {
    const rows = steps(begun(), 1).limitAsked("day-money", 10, 10).limitAnswered("go-on");
    steps(rows, 1);
    const asked = rows.rows.find(({ type, data }) => type === "system" && data.kind === "limit")?.createdAt ?? 0;
    expect(check(rows, { day: [12, 10], dayFrom: asked })).toEqual(free);
    expect(check(rows, { day: [12, 10], dayFrom: asked + 1 })).toEqual(reached("day-money", 12, 10));
    expect(check(rows, { day: [2, 10], dayFrom: asked + 1 })).toEqual(free);
  });

  test("[AGENT-102] go on: as far again, and then the question comes again", () => {
    const rows = steps(begun(), 3).limitAsked("turn-steps", 3, 3).limitAnswered("go-on");
    expect(check(rows, { stepsMax: 3 })).toEqual(free);
    expect(check(steps(rows, 2), { stepsMax: 3 })).toEqual(free);
    expect(check(steps(rows, 1), { stepsMax: 3 })).toEqual(reached("turn-steps", 6, 6));
    rows.limitAsked("turn-steps", 6, 6).limitAnswered("go-on");
    expect(check(steps(rows, 2), { stepsMax: 3 })).toEqual(free);
    expect(check(steps(rows, 1), { stepsMax: 3 })).toEqual(reached("turn-steps", 9, 9));
  });

  test("[AGENT-102] go on holds for money as well, from what was spent when it was asked", () => {
    const rows = steps(begun(), 1).limitAsked("tab-money", 5.5, 5).limitAnswered("go-on");
    steps(rows, 1);
    expect(check(rows, { tab: [10.4, 5] })).toEqual(free);
    expect(check(rows, { tab: [10.5, 5] })).toEqual(reached("tab-money", 10.5, 10.5));
    expect(check(rows, { tab: [6, 5], day: [9, 9] })).toEqual(reached("day-money", 9, 9));
  });

  test("[AGENT-102] raised: the limit itself says how far", () => {
    const rows = steps(begun(), 3).limitAsked("turn-steps", 3, 3).limitAnswered("raise");
    steps(rows, 1);
    expect(check(rows, { stepsMax: 5 })).toEqual(free);
    expect(check(steps(rows, 1), { stepsMax: 5 })).toEqual(reached("turn-steps", 5, 5));
  });

  test("[AGENT-103] after any answer one request gets through before the turn asks again", () => {
    const rows = begun().limitAsked("day-money", 7, 0).limitAnswered("raise");
    expect(check(rows, { day: [7, 0] })).toEqual(free);
    rows.system({ kind: "request", model: "script/m", scopeHash: "s", tailHash: "h", purpose: "compaction" });
    expect(check(rows, { day: [7, 0] })).toEqual(free);
    expect(check(rows.request(), { day: [7, 0] })).toEqual(reached("day-money", 7, 0));
  });

  test("[AGENT-104] stop is final", () => {
    expect(check(steps(begun(), 3).limitAsked("turn-steps", 3, 3).limitAnswered("stop"), { stepsMax: 3 })).toEqual({
      kind: "stop",
    });
  });

  test("[AGENT-105] an unknown price is asked about once in a turn", () => {
    const rows = begun().limitAsked("price-unknown", 1, 1).limitAnswered("go-on").request().usage();
    expect(check(rows, { tab: [0, 1], priced: false })).toEqual(free);
  });
});
