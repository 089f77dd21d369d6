import { factsOf } from "@varve/agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LimitReached } from "./failures.ts";
import { dearest, Purse } from "./purse.ts";

const limits = { requestsMax: 3, tokensMax: 1_000, moneyMax: 1 };
const ahead = { inputTokens: 100, outputTokens: 10, money: 0.4 };

test("each limit alone stops the next request", () => {
  const byRequests = new Purse(limits);
  for (let made = 0; made < 3; made += 1) byRequests.take({ ...ahead, money: 0 });
  expect(() => byRequests.take({ ...ahead, money: 0 })).toThrow(/3 requests are made/);
  const byTokens = new Purse(limits);
  byTokens.book(900, 0);
  expect(() => byTokens.take(ahead)).toThrow(/1000 tokens are used/);
  const byMoney = new Purse(limits);
  byMoney.book(0, 0.7);
  expect(() => byMoney.take(ahead)).toThrow(LimitReached);
  expect(byMoney.requests).toBe(0);
});

test("an unknown price is not counted as nothing: it says that it is unknown, and the other limits hold", () => {
  const purse = new Purse(limits);
  purse.take({ ...ahead, money: null });
  purse.book(500, null);
  expect([purse.isPriced, purse.money, purse.tokens]).toEqual([false, 0, 500]);
  expect(() => purse.take({ ...ahead, inputTokens: 600, money: null })).toThrow(/tokens are used/);
});

test("whatever is taken and billed, as long as nothing costs more than was said, the money is never passed", () => {
  const request = fc.record({
    money: fc.double({ min: 0, max: 0.5, noNaN: true }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
      const purse = new Purse({ requestsMax: 100, tokensMax: 1e9, moneyMax: 1 });
      try {
        for (const { money, share } of requests) {
          purse.take({ ...ahead, money });
          purse.book(10, money * share);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(LimitReached);
      }
      expect(purse.money).toBeLessThanOrEqual(1);
    }),
  );
});

test("the dearest request writes all of its input, for an hour where it may", () => {
  const { prices } = factsOf("anthropic", "claude-sonnet-5-5");
  const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
  expect(dearest(prices, tokens, false)).toBeCloseTo(2.5);
  expect(dearest(prices, tokens, true)).toBeCloseTo(4);
  expect(dearest(prices, { inputTokens: 0, outputTokens: 1_000_000 }, false)).toBeCloseTo(10);
  expect(dearest(null, tokens, false)).toBeNull();
});
