import type { ContextBody, LedgerStep, LimitName, Preview, Shortfall } from "@varve/protocol";
import { parseTabId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptySum, step } from "../dev/fake-ledger-bodies.ts";
import { billCauseName, billCauseText, bytesText, rewrittenText, unreadableText } from "./bill-text.ts";
import { blockText } from "./block-text.ts";
import { causeName, causeText } from "./cause-text.ts";
import { changeTitle, patchOf } from "./change-text.ts";
import { expiryText } from "./expiry-text.ts";
import { joinSteps } from "./join-steps.ts";
import { canRaise, limitAnswerText, limitUsed, raiseOf, suggestedRaise } from "./limit-text.ts";
import { cacheShare, contextText, wholeCost } from "./meter-text.ts";
import { costText, moneyOr, moneyText, unpricedText } from "./money-text.ts";
import { previewPrice, previewTokens } from "./preview-text.ts";
import { nothingTyped, overridesOf, typedOverride } from "./price-overrides.ts";
import { purposeText } from "./step-text.ts";
import { shareText, tokensOr } from "./token-text.ts";
import { dayBars, dayText } from "./usage-days.ts";
import { breakEvenText, warmState } from "./warm-text.ts";

const id = (text: string) => {
  const parsed = parseTabId(text);
  if (parsed === null) throw new Error("a legal id was expected");
  return parsed;
};

describe("money", () => {
  test.each([
    [0, "$0.00"],
    [0.00001, "under $0.0001"],
    [0.0041, "$0.0041"],
    [0.0999, "$0.0999"],
    [0.1, "$0.10"],
    [30.3302, "$30.33"],
    [1234.5, "$1,234.50"],
    [-0.02, "−$0.0200"],
  ])("%d is %s", (usd, text) => {
    expect(moneyText(usd)).toBe(text);
  });

  test.each([
    [{ price: 0, unpriced: 0 }, "$0.00", ""],
    [{ price: 0, unpriced: 1 }, "unknown", "1 request has no known price"],
    [{ price: 1, unpriced: 2 }, "at least $1.00", "2 requests have no known price"],
  ])("%j costs %s", (cost, text, left) => {
    expect([costText(cost), unpricedText(cost)]).toEqual([text, left]);
  });

  test("what is not known is never a number", () => {
    expect(moneyOr(null)).toBe("unknown");
    expect(tokensOr(null)).toBe("not told");
    expect(tokensOr(0)).toBe("0");
  });
});

describe("shares", () => {
  test.each([
    [0, 0, null],
    [5, 0, null],
    [0, 10, "0.0 %"],
    [1, 1, "100 %"],
    [2, 1, "100 %"],
    [998, 1000, "99.8 %"],
    [99_999, 100_000, "99.9 %"],
    [50, 100, "50 %"],
  ])("%d of %d is %s", (part, whole, text) => {
    expect(shareText(part, whole)).toBe(text);
  });

  test("only all of it is 100 %", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.nat(), (whole, some) => {
        const part = some % (whole + 1);
        expect(shareText(part, whole) === "100 %").toBe(part === whole);
      }),
    );
  });
});

describe("causes", () => {
  test.each<[Shortfall, string]>([
    [{ kind: "expired", tokens: 1, idleMs: 370_000 }, "The cache had expired after 6 min 10 s idle"],
    [{ kind: "expired", tokens: 1 }, "The cache had expired"],
    [{ kind: "prefix", tokens: 1, seq: 12 }, "New instructions or tools were applied (row 12)"],
    [
      { kind: "guard", tokens: 1, seq: 7 },
      "An earlier part of the request differs from what was sent before, first at row 7",
    ],
  ])("%j", (cause, text) => {
    expect(causeText(cause)).toBe(text);
  });
  test("each has a name and a sentence of its own", () => {
    const kinds: readonly Shortfall["kind"][] = [
      "expired",
      "model",
      "options",
      "prefix",
      "compaction",
      "guard",
      "provider",
    ];
    expect(new Set(kinds.map((kind) => causeText({ kind, tokens: 1 }))).size).toBe(kinds.length);
    expect(new Set(kinds.map((kind) => causeName[kind])).size).toBe(kinds.length);
  });
});

describe("the head of a tab", () => {
  test.each([
    [null, null],
    [0, "cache expired"],
    [-5000, "cache expired"],
    [1, "cache expires in 0:01"],
    [200_000, "cache expires in 3:20"],
    [3_600_000, "cache expires in 1:00:00"],
    [3_605_000, "cache expires in 1:00:05"],
  ])("an entry with %s ms left: %s", (left, text) => {
    expect(expiryText(left === null ? null : 1000 + left, 1000)?.text ?? null).toBe(text);
  });

  test.each<[Partial<ContextBody["meter"]>, string | null]>([
    [{ tokens: null }, null],
    [{}, "42k of 200k"],
    [{ estimated: true }, "about 42k of 200k"],
    [{ window: null }, "42k tokens"],
  ])("the context %j is %s", (part, text) => {
    expect(contextText({ tokens: 42_000, estimated: false, window: 200_000, compactAt: null, ...part })).toBe(text);
  });

  test("a share needs something that could be read", () => {
    expect(cacheShare(emptySum)).toBe(null);
    expect(cacheShare({ attained: 998, attainable: 1000 })).toBe("99.8 %");
  });

  test("a tab costs what it and all below it cost, and nothing beside", () => {
    const tab = (name: string, parent: string | null, price: number, unpriced = 0) => ({
      id: id(name),
      parentId: parent === null ? null : id(parent),
      cost: { price, unpriced },
    });
    const tabs = [tab("a", null, 1), tab("b", "a", 2, 1), tab("c", "b", 4), tab("d", "a", 8), tab("e", null, 16)];
    expect(wholeCost(tabs, id("a"))).toEqual({ price: 15, unpriced: 1 });
    expect(wholeCost(tabs, id("b"))).toEqual({ price: 6, unpriced: 1 });
    expect(wholeCost(tabs, id("gone"))).toEqual({ price: 0, unpriced: 0 });
  });
});

describe("before a click", () => {
  const preview: Preview = { tokens: 42_300, read: 0, written: 42_300, fresh: 0, price: 0.31, priceNow: 0.0212 };
  test.each<[Partial<Preview>, string]>([
    [{}, "The next request costs about $0.31 before its own message and answer; without the change about $0.0212."],
    [{ price: null }, "The next request costs a price that is not known before its own message and answer."],
    [{ priceNow: null }, "The next request costs about $0.31 before its own message and answer."],
    [
      { priceNow: 0.31 },
      "The next request costs about $0.31 before its own message and answer, the same as without the change.",
    ],
  ])("the price of %j", (part, text) => {
    expect(previewPrice({ ...preview, ...part })).toBe(text);
  });
  test.each<[Partial<Preview>, string]>([
    [{}, "Of about 42k tokens nothing is read from the cache, about 42k are written to it."],
    [
      { read: 41_000, written: 0, fresh: 1300 },
      "Of about 42k tokens about 41k are read from the cache, about 1.3k are neither.",
    ],
    [{ tokens: 0, written: 0 }, "Nothing has been sent yet, so nothing is sent again."],
  ])("the tokens of %j", (part, text) => {
    expect(previewTokens({ ...preview, ...part })).toBe(text);
  });
  test("a change has a title and becomes the patch of just that", () => {
    expect(changeTitle({ model: "a/b" }, "Model B")).toBe("Go on with Model B?");
    expect(changeTitle({ effort: "high" }, null)).toBe("Go on with high effort?");
    expect(changeTitle({ cacheTtl: "1h" }, null)).toBe("Keep what is written for 1 hour?");
    expect(patchOf({ effort: "high" })).toEqual({ effort: "high" });
    expect(patchOf({ cacheTtl: "1h" })).toEqual({ options: { cacheTtl: "1h" } });
  });
});

describe("limits", () => {
  const names: readonly LimitName[] = ["turn-steps", "tab-money", "day-money", "price-unknown"];
  test.each<[LimitName, number, number, string]>([
    ["turn-steps", 200, 200, "200 of 200 steps in this turn."],
    ["tab-money", 2.03, 2, "$2.03 of $2.00 for this tab with its children."],
    ["day-money", 20, 20, "$20.00 of $20.00 for all tabs today."],
    ["price-unknown", 0, 5, "$0.00 of $5.00 is what is known; what this model costs cannot be counted."],
  ])("%s", (limit, used, max, text) => {
    expect(limitUsed({ limit, used, max })).toBe(text);
  });

  test("what is suggested can be sent: it is above what was used", () => {
    const amounts = fc.double({ min: 0.01, max: 10_000, noNaN: true });
    fc.assert(
      fc.property(fc.constantFrom(...names), amounts, amounts, (limit, max, over) => {
        const steps = limit === "turn-steps";
        const used = steps ? Math.ceil(max + over) : max + over;
        const facts = { limit, used, max: steps ? Math.ceil(max) : max };
        const suggested = suggestedRaise(facts);
        expect(raiseOf(facts, suggested)).toBe(suggested);
      }),
    );
  });
  test.each([
    ["tab-money", null, null],
    ["tab-money", 2, null],
    ["tab-money", Number.NaN, null],
    ["tab-money", 2.5, 2.5],
    ["turn-steps", 2.5, null],
    ["turn-steps", 3, 3],
  ] as const)("%s can be raised from 2 to %s: %s", (limit, typed, amount) => {
    expect(raiseOf({ limit, used: 2, max: 2 }, typed)).toBe(amount);
  });
  test("a price that nobody knows cannot be raised", () => {
    expect(names.filter(canRaise)).toEqual(["turn-steps", "tab-money", "day-money"]);
  });
  test.each([
    ["stop", undefined, "Stopped at the limit. Everything is kept."],
    ["raise", 4, "The limit was raised to $4.00."],
    ["go-on", undefined, "Went on: this turn may go as far again."],
  ] as const)("the answer %s %s is kept as: %s", (choice, raiseTo, text) => {
    expect(limitAnswerText("tab-money", choice, raiseTo)).toBe(text);
  });
});

describe("keeping warm", () => {
  const off: ContextBody["warm"] = {
    state: "off",
    nextAt: null,
    count: 0,
    price: 0,
    refreshPrice: 0.02,
    missPrice: 0.23,
    breakEven: 11,
  };
  test.each<[Partial<ContextBody["warm"]>, string]>([
    [{}, "Off."],
    [{ count: 1, price: 0.02 }, "Off. Refreshed once for $0.0200."],
    [{ state: "waiting", nextAt: 31_000 }, "On; the next refresh comes in 0:30."],
    [{ state: "waiting" }, "On; it begins when the tab is idle and something is cached."],
    [
      { state: "over", count: 6, price: 0.12 },
      "The allowance is used up, so the cache will expire. Refreshed 6 times for $0.12.",
    ],
    [{ state: "unsupported" }, "This kind of model has no way to keep its cache warm."],
    [{ state: "running" }, "Refreshing now."],
  ])("%j", (part, text) => {
    expect(warmState({ ...off, ...part }, 1000)).toBe(text);
  });
  test("the break-even is only said where both prices are known", () => {
    expect(breakEvenText(off)).toContain("11 refreshes cost as much as one miss");
    expect(breakEvenText({ ...off, breakEven: null })).not.toContain("refreshes");
    expect(breakEvenText({ ...off, missPrice: null })).toBe(null);
  });
});

describe("pages of requests", () => {
  const steps = (...seqs: readonly number[]): readonly LedgerStep[] => seqs.map((seq) => step(seq, 0));
  const seqs = (list: readonly LedgerStep[]): readonly number[] => list.map(({ usageSeq }) => usageSeq);
  test.each([
    ["first", [9, 8], [], [9, 8]],
    ["the same again", [9, 8], [9, 8], [9, 8]],
    ["with older ones held", [9, 8], [9, 8, 7, 6], [9, 8, 7, 6]],
    ["moved on by one", [10, 9], [9, 8, 7], [10, 9, 8, 7]],
    ["moved on too far to join", [20, 19], [9, 8, 7], [20, 19]],
    ["of an empty log", [], [9, 8], []],
  ])("%s", (_name, fresh, held, all) => {
    expect(seqs(joinSteps(steps(...fresh), steps(...held)))).toEqual(all);
  });
  test("another log's request with the same seq does not join", () => {
    const other = steps(8, 7).map((one) => ({ ...one, startedAt: -1 }));
    expect(joinSteps(steps(9, 8), other)).toEqual(steps(9, 8));
  });
  test.each([
    ["step", 0, "step 1"],
    ["warm", 0, "keep warm"],
    ["compaction", 4, "summary"],
  ] as const)("%s %d is called %s", (purpose, at, text) => {
    expect(purposeText({ purpose, step: at })).toBe(text);
  });
  test("a block says who it is of", () => {
    expect(blockText({ role: "user", kind: "text" })).toBe("text of the person");
    expect(blockText({ role: "tool", kind: "result" })).toBe("tool result");
  });
});

describe("days", () => {
  const day = (price: number, unpriced = 0) => ({ day: "2026-11-30", sum: { ...emptySum, price, unpriced } });
  test("bars are measured against the dearest; what cost anything can be seen", () => {
    expect(dayBars([day(0), day(0.001), day(5), day(10)]).map(({ height }) => height)).toEqual([0, 0.02, 0.5, 1]);
    expect(dayBars([day(0, 3)])).toEqual([{ day: "2026-11-30", price: 0, unpriced: 3, height: 0.02 }]);
    expect(dayBars([])).toEqual([]);
  });
  test("a day is the server's in every zone", () => {
    expect(dayText("2026-11-30", "en-US")).toBe("Nov 30");
    expect(dayText("no day")).toBe("no day");
  });
});

describe("prices by hand", () => {
  test("what is no price is left out of the setting", () => {
    const value = { "a/b": { contextTokens: 1, prices: { input: 2, extra: 1, output: "3" } }, "c/d": 7 };
    expect(overridesOf(value)).toEqual({ "a/b": { contextTokens: 1, prices: { input: 2 } }, "c/d": {} });
    expect(overridesOf(undefined)).toEqual({});
    expect(overridesOf("text")).toEqual({});
  });
  test.each([
    [{}, {}],
    [{ input: 0 }, { prices: { input: 0 } }],
    [
      { input: 1.5, output: 2, contextTokens: 8192 },
      { contextTokens: 8192, prices: { input: 1.5, output: 2 } },
    ],
    [{ input: -1 }, null],
    [{ contextTokens: 0 }, null],
    [{ contextTokens: 1.5 }, null],
  ])("%j is kept as %j", (part, override) => {
    expect(typedOverride({ ...nothingTyped(), ...part })).toEqual(override);
  });
});

describe("bills of other tools", () => {
  test.each([
    [{ tokens: 0, price: 0, share: 0 }, "Nothing of it was paid twice."],
    [
      { tokens: 1_240_000, price: 6.41, share: 0.2113 },
      "1.2M tokens were paid again although they had been sent before: $6.41, 21.1 % of the bill.",
    ],
    [
      { tokens: 1000, price: null, share: null },
      "1.0k tokens were paid again although they had been sent before; at a price that is not known.",
    ],
  ])("%j", (rewritten, text) => {
    expect(rewrittenText(rewritten, 0)).toBe(text);
  });
  test("where a request has no known price, what was paid again is a least, and no share of anything", () => {
    expect(rewrittenText({ tokens: 86_000, price: 0.35, share: 0.62 }, 1)).toBe(
      "86k tokens were paid again although they had been sent before: at least $0.35.",
    );
  });
  test("a recording tells no rows and no prompt: its causes have words of their own", () => {
    expect([billCauseName.prefix, billCauseText({ kind: "prefix", tokens: 1 })]).toEqual([
      "the tool’s system prompt or tools changed",
      "The tool’s system prompt or tools changed",
    ]);
    expect([billCauseName.provider, billCauseText({ kind: "provider", tokens: 1 })]).toEqual([
      "not explained by the recording",
      "Nothing in the recording explains it",
    ]);
    expect([billCauseName.expired, billCauseText({ kind: "expired", tokens: 1, idleMs: 370_000 })]).toEqual([
      "cache expired",
      "The cache had expired after 6 min 10 s idle",
    ]);
  });
  test.each([
    [1, "1 line could not be read and is not counted."],
    [2, "2 lines could not be read and are not counted."],
  ])("%d unreadable lines", (lines, text) => {
    expect(unreadableText(lines)).toBe(text);
  });
  test.each([
    [812, "812 bytes"],
    [4096, "4 KB"],
    [4_812_000, "4.6 MB"],
  ])("%d bytes are %s", (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });
});
