import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { totalInput } from "./ledger/price.ts";
import { usageData } from "./usage.ts";

type Count = number | undefined;
const tokens = (total?: Count, noCache?: Count, cacheRead?: Count, cacheWrite?: Count) => ({
  total,
  noCache,
  cacheRead,
  cacheWrite,
});
const output = (total?: Count, reasoning?: Count) => ({ total, text: undefined, reasoning });
type Told = Omit<LanguageModelV3Usage, "raw">;
const figures = (usage: Told | LanguageModelV3Usage) => {
  const { fresh, read, write5m, write1h, output: all, reasoning } = usageData(usage, "a/m");
  return { fresh, read, write5m, write1h, output: all, reasoning };
};

/** What each provider's package hands on for such an answer, and what of it is true. */
const fixtures = {
  anthropic: {
    usage: {
      inputTokens: tokens(1203, 3, 1000, 200),
      outputTokens: output(7, 2),
      raw: {
        input_tokens: 3,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 200,
        cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
      },
    },
    told: { fresh: 3, read: 1000, write5m: 150, write1h: 50, output: 7, reasoning: 2 },
  },
  "anthropic without the split": {
    usage: { inputTokens: tokens(1203, 3, 1000, 200), outputTokens: output(7), raw: { input_tokens: 3 } },
    told: { fresh: 3, read: 1000, write5m: 200, write1h: null, output: 7, reasoning: null },
  },
  "openai from 5.6 on": {
    usage: {
      inputTokens: tokens(2000, 464, 1024, 512),
      outputTokens: output(20, 5),
      raw: { input_tokens: 2000, input_tokens_details: { cached_tokens: 1024, cache_write_tokens: 512 } },
    },
    told: { fresh: 464, read: 1024, write5m: 512, write1h: null, output: 20, reasoning: 5 },
  },
  "openai before 5.6": {
    usage: {
      inputTokens: tokens(2000, 976, 1024),
      outputTokens: output(20, 0),
      raw: { input_tokens: 2000, input_tokens_details: { cached_tokens: 1024 } },
    },
    told: { fresh: 976, read: 1024, write5m: null, write1h: null, output: 20, reasoning: 0 },
  },
  "openai chat": {
    usage: {
      inputTokens: tokens(2000, 976, 1024),
      outputTokens: output(20, 8),
      raw: {
        prompt_tokens: 2000,
        prompt_tokens_details: { cached_tokens: 1024 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    },
    told: { fresh: 976, read: 1024, write5m: null, write1h: null, output: 20, reasoning: 8 },
  },
  "google, whose output includes the thoughts": {
    usage: {
      inputTokens: tokens(3000, 952, 2048),
      outputTokens: { total: 130, text: 30, reasoning: 100 },
      raw: { promptTokenCount: 3000, cachedContentTokenCount: 2048, candidatesTokenCount: 30, thoughtsTokenCount: 100 },
    },
    told: { fresh: 952, read: 2048, write5m: null, write1h: null, output: 130, reasoning: 100 },
  },
  deepseek: {
    usage: {
      inputTokens: tokens(2000, 80, 1920),
      outputTokens: output(20, 0),
      raw: { prompt_tokens: 2000, prompt_cache_hit_tokens: 1920, prompt_cache_miss_tokens: 80 },
    },
    told: { fresh: 80, read: 1920, write5m: null, write1h: null, output: 20, reasoning: null },
  },
  "deepseek behind the compatible package, which does not know its names": {
    usage: {
      inputTokens: tokens(2000, 2000, 0),
      outputTokens: output(20, 0),
      raw: { prompt_tokens: 2000, prompt_cache_hit_tokens: 1920 },
    },
    told: { fresh: 80, read: 1920, write5m: null, write1h: null, output: 20, reasoning: null },
  },
  "openrouter, whose fresh figure holds the writes": {
    usage: {
      inputTokens: tokens(2000, 976, 1024, 300),
      outputTokens: output(20, 0),
      raw: {
        prompt_tokens: 2000,
        prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 300 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.01,
      },
    },
    told: { fresh: 676, read: 1024, write5m: 300, write1h: null, output: 20, reasoning: 0 },
  },
  "a local server that tells what it reused": {
    usage: {
      inputTokens: tokens(500, 100, 400),
      outputTokens: output(9, 0),
      raw: { prompt_tokens: 500, prompt_tokens_details: { cached_tokens: 400 } },
    },
    told: { fresh: 100, read: 400, write5m: null, write1h: null, output: 9, reasoning: null },
  },
  "a local server that does not": {
    usage: { inputTokens: tokens(500, 500, 0), outputTokens: output(9, 0), raw: { prompt_tokens: 500 } },
    told: { fresh: 500, read: null, write5m: null, write1h: null, output: 9, reasoning: null },
  },
} as const;

const nothing = { fresh: null, read: null, write5m: null, write1h: null, output: null, reasoning: null };

describe("each provider's figures", () => {
  test.each(Object.entries(fixtures))("[ASM-10] %s (B17)", (_, { usage, told }) => {
    expect(figures(usage)).toEqual(told);
    expect(totalInput(usageData(usage, "a/m"))).toBe(usage.inputTokens.total);
  });

  test("[AGENT-145] fresh, read and written are the whole input, whatever the package says is fresh (B17)", () => {
    const count = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(count, count, count, count, (noCache, cacheRead, cacheWrite, wrong) => {
        const total = noCache + cacheRead + cacheWrite;
        const usage = { inputTokens: tokens(total, wrong, cacheRead, cacheWrite), outputTokens: output(1), raw: {} };
        expect(totalInput(usageData(usage, "a/m"))).toBe(total);
      }),
    );
  });

  test("[ASM-10] the raw figures are kept as they came", () => {
    const { usage } = fixtures.anthropic;
    expect(usageData(usage, "a/m")).toMatchObject({ kind: "usage", model: "a/m", raw: usage.raw, price: null });
    expect("raw" in usageData({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }, "a/m")).toBe(false);
  });
});

describe("what was not told", () => {
  test.each([
    ["nothing at all", tokens(), output()],
    ["the zeros that stand in for nothing", tokens(0), output(0)],
    ["zeros for every figure", tokens(0, 0, 0, 0), output(0, 0)],
  ])("[ASM-10] %s is null and never 0", (_, inputTokens, outputTokens) => {
    expect(figures({ inputTokens, outputTokens })).toEqual(nothing);
  });

  test("[ASM-10] fresh tokens are what is left of the total where only that is told", () => {
    expect(figures({ inputTokens: tokens(100, undefined, 60), outputTokens: output(7) }).fresh).toBe(40);
    expect(figures({ inputTokens: tokens(undefined, 40, 60), outputTokens: output(7) }).fresh).toBe(40);
  });

  test("[AGENT-145] a package whose parts are more than its total gives no figure below nothing", () => {
    const usage = usageData(
      {
        inputTokens: { total: 100, noCache: undefined, cacheRead: 80, cacheWrite: 50 },
        outputTokens: { total: 1, text: undefined, reasoning: undefined },
      },
      "m",
    );
    expect(usage).toMatchObject({ fresh: 0, read: 80, write5m: 50 });
  });
});
