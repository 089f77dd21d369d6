import { expect, test } from "vitest";
import { usageData } from "./usage.ts";

const tokens = (total?: number, noCache?: number, cacheRead?: number, cacheWrite?: number) => ({
  total,
  noCache,
  cacheRead,
  cacheWrite,
});
const output = { total: 7, text: 5, reasoning: 2 };

test("[ASM-10] Anthropic's writes are told apart by lifetime, from the raw figures", () => {
  const raw = { input_tokens: 3, cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 } };
  const usage = usageData({ inputTokens: tokens(1203, 3, 1000, 200), outputTokens: output, raw }, "a/m");
  expect(usage).toMatchObject({ fresh: 3, read: 1000, write5m: 150, write1h: 50, output: 7, reasoning: 2, raw });
});

test("[ASM-10] a provider that tells only one figure of writes has them all under the short lifetime", () => {
  const usage = usageData({ inputTokens: tokens(2000, 464, 1024, 512), outputTokens: output }, "a/m");
  expect(usage).toMatchObject({ fresh: 464, read: 1024, write5m: 512, write1h: null });
  expect("raw" in usage).toBe(false);
});

test("[ASM-10] unknown is null and never 0", () => {
  const none = { total: undefined, text: undefined, reasoning: undefined };
  expect(usageData({ inputTokens: tokens(), outputTokens: none }, "demo/demo")).toEqual({
    kind: "usage",
    model: "demo/demo",
    fresh: null,
    read: null,
    write5m: null,
    write1h: null,
    output: null,
    reasoning: null,
    price: null,
    attainable: null,
  });
});

test("[ASM-10] fresh tokens are what is left of the total where only that is told", () => {
  expect(usageData({ inputTokens: tokens(100, undefined, 60), outputTokens: output }, "a/m").fresh).toBe(40);
});
