import { describe, expect, test } from "vitest";
import { unknownFacts } from "./facts.ts";
import { factsOf } from "./facts-of.ts";
import { tableColumns, tableIds, tableRow, tableSource } from "./table/table.ts";

const tables = ["anthropic", "openai", "google", "deepseek", "openrouter", "mistral", "xai", "moonshotai", "groq"];
const minute = 60_000;
const ratesOf = (provider: Parameters<typeof factsOf>[0], id: string) => factsOf(provider, id).prices;

describe("the committed table", () => {
  test("[AGENT-140] says where it is from and holds models of every provider", () => {
    expect(tableSource).toMatch(/^@earendil-works\/pi-ai \d+\.\d+\.\d+$/);
    expect(tableColumns).toEqual(["contextTokens", "outputTokensMax", "input", "output", "read", "write", "tiers"]);
    for (const table of tables) expect(tableIds(table).length, table).toBeGreaterThan(1);
  });

  test("[AGENT-140] is sorted, so that renewing it changes only the lines that changed", () => {
    for (const table of tables) expect(tableIds(table), table).toEqual([...tableIds(table)].sort());
  });

  test("[AGENT-141] has no price of 0 but for models that their seller names free", () => {
    const zeros = tables.flatMap((table) =>
      tableIds(table).flatMap((id) => {
        const [, , ...rates] = tableRow(table, id) ?? [];
        return rates.flat(2).includes(0) && !id.endsWith(":free") ? [`${table}/${id}`] : [];
      }),
    );
    expect(zeros).toEqual([]);
    expect(ratesOf("openrouter", "google/gemma-4-31b-it:free")).toMatchObject({ input: 0, output: 0, read: 0 });
  });

  test("[AGENT-140] tiers ascend, are dearer than what is below them, and begin where a request can be", () => {
    for (const table of tables) {
      for (const id of tableIds(table)) {
        const [, , input = null, , , , tiers = []] = tableRow(table, id) ?? [];
        let [above, price] = [0, input];
        for (const [from, rate] of tiers) {
          expect(from, id).toBeGreaterThan(above);
          expect(rate, id).toBeGreaterThan(price ?? Number.POSITIVE_INFINITY);
          [above, price] = [from, rate];
        }
      }
    }
  });
});

describe("facts of a model", () => {
  test.each([
    ["anthropic", "claude-opus-5-5", { input: 4, output: 20, read: 0.2, write5m: 5, write1h: 8 }],
    ["anthropic", "claude-fable-5-1", { input: 10, output: 50, read: 0.25, write5m: 12.5, write1h: 20 }],
    ["anthropic", "claude-sonnet-4-5", { input: 3, output: 15, read: 0.3, write5m: 3.75, write1h: 6 }],
    ["openai", "gpt-5.6-sol", { input: 4, output: 20, read: 0.4, write5m: 5, write1h: null }],
    ["openai", "gpt-5.4", { input: 2.5, output: 15, read: 0.25, write5m: null, write1h: null }],
    ["google", "gemini-2.5-pro", { input: 1.25, output: 10, read: 0.125, write5m: null, write1h: null }],
    ["deepseek", "deepseek-flash", { input: 0.3, output: 1.2, read: 0.006, write5m: null, write1h: null }],
  ] as const)("[AGENT-140] %s/%s has the price of its vendor's list", (provider, id, rates) => {
    expect(ratesOf(provider, id)).toMatchObject(rates);
  });

  test("[AGENT-140] a tier holds above its number of tokens", () => {
    expect(ratesOf("openai", "gpt-5.6-sol")?.tiers).toEqual([
      { above: 272_000, input: 8, output: 30, read: 0.8, write5m: 10, write1h: null },
    ]);
    expect(ratesOf("anthropic", "claude-haiku-5-5")?.tiers).toMatchObject([{ above: 100_000, input: 0.5, write1h: 1 }]);
  });

  test.each([
    ["anthropic", "claude-sonnet-5-5-20261001", "claude-sonnet-5-5"],
    ["anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"],
    ["anthropic", "claude-opus-4-8[1m]", "claude-opus-4-8"],
    ["anthropic", "claude-opus-4-5@20251101", "claude-opus-4-5"],
    ["anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"],
    ["openai", "gpt-5.4-2026-03-05", "gpt-5.4"],
  ] as const)("[AGENT-142] %s/%s is found without its date", (provider, dated, plain) => {
    expect(factsOf(provider, dated).prices).not.toBeNull();
    expect(factsOf(provider, dated)).toEqual(factsOf(provider, plain));
  });

  test("[AGENT-142] an id with a date of its own row is not stripped", () => {
    expect(ratesOf("openai", "gpt-4o-2024-05-13")).toMatchObject({ input: 5 });
    expect(ratesOf("openai", "gpt-4o")).toMatchObject({ input: 2.5 });
  });

  test("[AGENT-142] on OpenRouter a model is found under its own name, else under its vendor's", () => {
    expect(ratesOf("openrouter", "anthropic/claude-opus-5.5")).toMatchObject({ read: 0.2, write1h: 8 });
    expect(ratesOf("openrouter", "anthropic/claude-sonnet-4")).toMatchObject({ input: 3 });
    expect(factsOf("openrouter", "anthropic/claude-opus-5.5").cache).toEqual(
      factsOf("anthropic", "claude-opus-5-5").cache,
    );
    expect(factsOf("openrouter", "nobody/nothing")).toEqual(unknownFacts);
  });

  test("[AGENT-141] a model on a person's own machine, and one that nobody lists, has unknown prices", () => {
    expect(factsOf("openai-compatible", "gpt-5.4")).toEqual(unknownFacts);
    expect(factsOf("openai-compatible", "gpt-5.4", { baseUrl: "http://127.0.0.1:11434/v1" })).toEqual(unknownFacts);
    expect(factsOf("openai-compatible", "gpt-5.4", { baseUrl: "not an address" })).toEqual(unknownFacts);
    expect(factsOf("anthropic", "claude-of-next-year")).toEqual(unknownFacts);
    for (const name of ["toString", "constructor/name", "__proto__/x"]) {
      expect(factsOf("anthropic", name), name).toEqual(unknownFacts);
      expect(factsOf("openrouter", name), name).toEqual(unknownFacts);
    }
    expect(ratesOf("google", "gemma-4-31b-it")).toBeNull();
    expect(factsOf("google", "gemma-4-31b-it").contextTokens).toBe(262_144);
  });

  test("[AGENT-142] a seller is known by the address of its OpenAI-compatible server", () => {
    const facts = factsOf("openai-compatible", "mistral-large-2512", { baseUrl: "https://api.mistral.ai/v1" });
    expect(facts.prices).toMatchObject({ input: 0.5, output: 1.5 });
    expect(facts.contextTokens).toBe(262_144);
  });

  test("[AGENT-143] what a person says wins figure by figure, and their prices hold for any size", () => {
    const facts = factsOf("openai", "gpt-5.6-sol", { override: { prices: { input: 1 } } });
    expect(facts.prices).toMatchObject({ input: 1, output: 20, read: 0.4, tiers: [] });
    const local = factsOf("openai-compatible", "qwen", {
      override: { contextTokens: 32_768, prices: { input: 0, output: 0 } },
    });
    expect(local).toMatchObject({ contextTokens: 32_768, prices: { input: 0, output: 0, read: null } });
    expect(factsOf("openai", "gpt-5.6-sol", { override: { contextTokens: 9 } }).prices?.tiers).toHaveLength(1);
  });
});

describe("cache rules", () => {
  test.each([
    ["anthropic", "claude-opus-5-5", 512, 5, 60],
    ["anthropic", "claude-fable-5-1", 512, 5, 60],
    ["anthropic", "claude-opus-4-8", 1024, 5, 60],
    ["anthropic", "claude-sonnet-4-5-20250929", 1024, 5, 60],
    ["anthropic", "claude-opus-4-7", 2048, 5, 60],
    ["anthropic", "claude-opus-4-6", 4096, 5, 60],
    ["anthropic", "claude-haiku-4-5", 4096, 5, 60],
    ["openai", "gpt-5.6-sol", 1024, 30, null],
    ["openai", "gpt-6.2-astra", 1024, 30, null],
    ["openai", "gpt-5.4", 1024, 5, null],
    ["google", "gemini-2.5-pro", 4096, 5, null],
    ["google", "gemini-3.8-flash", 2048, 5, null],
    ["deepseek", "deepseek-flash", 64, 120, null],
  ] as const)("[AGENT-144] %s/%s: at least %i tokens, %i minutes", (provider, id, minTokens, short, long) => {
    const longMs = long === null ? null : long * minute;
    expect(factsOf(provider, id).cache).toEqual({ minTokens, shortMs: short * minute, longMs });
  });

  test.each([
    ["openai", "gpt-4"],
    ["openai", "gpt-5.4-pro"],
    ["openai-compatible", "qwen"],
    ["google", "gemma-4-31b-it"],
  ] as const)("[AGENT-144] %s/%s: nobody promises a cache", (provider, id) => {
    expect(factsOf(provider, id).cache).toBeNull();
  });
});
