import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelPrices } from "../model/facts.ts";
import { breakEven } from "./break-even.ts";
import { calibrated, estimateTokens } from "./estimate.ts";
import type { TokenFigures } from "./price.ts";
import { causePriceOf, paidAgain, priceOf, ratesFor, savedOf, totalInput } from "./price.ts";

const opus: ModelPrices = { input: 4, output: 20, read: 0.2, write5m: 5, write1h: 8, tiers: [] };
const tiered: ModelPrices = {
  ...opus,
  tiers: [
    { above: 1000, input: 8, output: 30, read: 0.4, write5m: 10, write1h: null },
    { above: 5000, input: 16, output: 60, read: 0.8, write5m: 20, write1h: null },
  ],
};
const usage = (more: Partial<TokenFigures> = {}): TokenFigures => ({
  fresh: 0,
  read: 0,
  write5m: 0,
  write1h: 0,
  output: 0,
  ...more,
});
const M = 1_000_000;

describe("price of a request", () => {
  test.each([
    [{ fresh: M }, 4],
    [{ read: M }, 0.2],
    [{ write5m: M }, 5],
    [{ write1h: M }, 8],
    [{ output: M }, 20],
    [{ fresh: 3, read: 1000, write5m: 150, write1h: 50, output: 7 }, (12 + 200 + 750 + 400 + 140) / M],
    [{ fresh: M, read: null, write5m: null, write1h: null }, 4],
    [{}, 0],
  ] as const)("[AGENT-146] %j costs $%f", (tokens, price) => {
    expect(priceOf(usage(tokens), opus)).toBeCloseTo(price, 12);
  });

  test.each([
    ["there is no price list", usage({ fresh: 1 }), null],
    ["the input was not told", usage({ fresh: null, read: 5 }), opus],
    ["the output was not told", usage({ output: null }), opus],
    ["tokens were read and the rate of reading is unknown", usage({ read: 1 }), { ...opus, read: null }],
    ["tokens were written and the rate of writing is unknown", usage({ write1h: 1 }), { ...opus, write1h: null }],
  ])("[AGENT-146] it is unknown when %s", (_, tokens, prices) => {
    expect(priceOf(tokens, prices)).toBeNull();
  });

  test("[AGENT-146] where every rate is known to be 0 the price is 0, whatever was not told; where one is unknown it is not", () => {
    const free = { input: 0, output: 0, read: 0, write5m: 0, write1h: 0, tiers: [] };
    const untold = usage({ fresh: null, read: null, output: null });
    expect(priceOf(untold, free)).toBe(0);
    expect(priceOf(untold, { ...free, write1h: null })).toBeNull();
    expect(priceOf(untold, { ...free, tiers: [{ ...free, above: 9, output: 1 }] })).toBeNull();
  });

  test("[AGENT-146] an unknown rate does not matter where nothing is billed at it", () => {
    expect(priceOf(usage({ fresh: M }), { ...opus, read: null, write5m: null, write1h: null })).toBe(4);
  });

  test.each([
    [1000, 4],
    [1001, 8],
    [5000, 8],
    [5001, 16],
  ])("[AGENT-146] a whole input of %i tokens is billed at the rates above its size ($%f)", (total, input) => {
    expect(ratesFor(tiered, total).input).toBe(input);
    expect(priceOf(usage({ fresh: total - 500, read: 500 }), tiered)).toBeCloseTo(
      ((total - 500) * input + 500 * (input / 20)) / M,
      12,
    );
  });
});

describe("what reading saved", () => {
  test("[AGENT-149] is the discount of what was read less the surcharge of what was written", () => {
    expect(savedOf(usage({ read: M }), opus)).toBeCloseTo(3.8, 12);
    expect(savedOf(usage({ write5m: M }), opus)).toBeCloseTo(-1, 12);
    expect(savedOf(usage({ read: M, write5m: M, write1h: M, fresh: M }), opus)).toBeCloseTo(3.8 - 1 - 4, 12);
  });

  test("[AGENT-149] claims nothing where a rate is unknown", () => {
    expect(savedOf(usage({ read: M }), null)).toBe(0);
    expect(savedOf(usage({ read: M }), { ...opus, read: null })).toBe(0);
    expect(savedOf(usage({ fresh: null }), opus)).toBe(0);
  });
});

describe("what a shortfall cost", () => {
  test.each([
    ["written again for five minutes", { write5m: M }, M, 4.8],
    ["written again for an hour", { write1h: M }, M, 7.8],
    ["sent fresh, where nothing is written", { fresh: M, write5m: null, write1h: null }, M, 3.8],
    ["partly missing", { read: M, write5m: M }, M / 2, 2.4],
    ["a longer context before than now: only what was sent is paid", { write5m: M / 10 }, M, 0.48],
    [
      "longer entries stand in front of shorter ones, and those in front of what is fresh",
      { write1h: 10, write5m: M, fresh: M },
      10,
      0.000078,
    ],
  ])("[AGENT-148] %s", (_, tokens, missing, price) => {
    expect(causePriceOf({ ...usage(tokens), cause: { tokens: missing } }, opus)).toBeCloseTo(price, 10);
  });

  test("[AGENT-148] is unknown when a rate is, and 0 without a shortfall", () => {
    expect(causePriceOf({ ...usage({ fresh: 10 }), cause: { tokens: 5 } }, null)).toBeNull();
    expect(causePriceOf({ ...usage({ fresh: 10 }), cause: { tokens: 5 } }, { ...opus, read: null })).toBeNull();
    expect(causePriceOf({ ...usage({ fresh: null }), cause: { tokens: 5 } }, opus)).toBeNull();
    expect(causePriceOf({ ...usage({ fresh: 10 }), cause: null }, null)).toBe(0);
    expect(causePriceOf(usage({ fresh: 10 }), null)).toBe(0);
  });

  test("[AGENT-148] no more is paid again than was missing, nor than was sent unread", () => {
    const count = fc.nat({ max: M });
    fc.assert(
      fc.property(count, count, count, count, count, (fresh, read, write5m, write1h, missing) => {
        const again = totalInput(paidAgain({ fresh, read, write5m, write1h }, missing));
        expect(again).toBe(Math.min(missing, fresh + write5m + write1h));
      }),
    );
  });
});

describe("keeping warm", () => {
  const at = (factor: number): ModelPrices => ({ ...opus, input: 10, read: 10 * factor, write5m: 12.5, write1h: 20 });
  test.each([
    [0.1, 11, 1.15],
    [0.05, 24, 1.2],
    [0.025, 49, 1.225],
  ])("[AGENT-150] at a read price of %f inputs, %i refreshes cost no more than a miss of %f", (factor, count, miss) => {
    const even = breakEven(at(factor), 100_000, "5m");
    expect(even.count).toBe(count);
    expect(even.refreshPrice).toBeCloseTo(factor, 12);
    expect(even.missPrice).toBeCloseTo(miss, 12);
  });

  test("[AGENT-150] an hour's entry costs its own price to write again", () => {
    expect(breakEven(at(0.1), 100_000, "1h")).toMatchObject({ count: 19, missPrice: expect.closeTo(1.9, 12) });
  });

  test("[AGENT-150] what cannot be written is missed at the price of fresh tokens, and unknown prices answer nothing", () => {
    const unwritten = { ...at(0.1), write5m: null };
    expect(breakEven(unwritten, 100_000, "5m")).toMatchObject({ count: 9, missPrice: expect.closeTo(0.9, 12) });
    const nothing = { refreshPrice: null, missPrice: null, count: null };
    expect(breakEven(null, 1000, "5m")).toEqual(nothing);
    expect(breakEven({ ...at(0.1), read: null }, 1000, "5m")).toEqual(nothing);
    expect(breakEven({ ...at(0.1), read: 0 }, 1000, "5m").count).toBeNull();
  });
});

describe("estimates", () => {
  test("[AGENT-151] text is estimated by its kind, and calibrated by what was billed for text like it", () => {
    const words = "The agent reads, edits, runs and searches. ".repeat(100);
    expect(estimateTokens(words) / words.length).toBeGreaterThan(0.15);
    expect(estimateTokens(words) / words.length).toBeLessThan(0.35);
    expect(estimateTokens("")).toBe(0);
    expect(calibrated({ tokens: 500, chars: 2000 }, 1000)).toBe(250);
    expect(calibrated(null, 1000)).toBe(250);
    expect(calibrated({ tokens: 500, chars: 0 }, 10)).toBe(3);
  });
});
