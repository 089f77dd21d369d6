import { APICallError, type LanguageModelV3 } from "@ai-sdk/provider";
import { createFakeClock, settle } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { generateModel } from "./generate-model.ts";

const usage = {
  inputTokens: { total: 10, noCache: 1, cacheRead: 9, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
};

function modelOf(doGenerate: LanguageModelV3["doGenerate"]): () => Promise<LanguageModelV3> {
  return async () => ({
    specificationVersion: "v3",
    provider: "x",
    modelId: "m",
    supportedUrls: {},
    doGenerate,
    doStream: () => Promise.reject(new Error("only generates")),
  });
}

function ask(open: () => Promise<LanguageModelV3>, abortSignal?: AbortSignal) {
  const clock = createFakeClock();
  const rules = { clock, idleMs: 1_000, firstMs: 4_000, redact: (text: string) => text.replaceAll("KEY", "[secret]") };
  return { clock, answer: generateModel(open, { prompt: [], ...(abortSignal && { abortSignal }) }, rules) };
}

describe("one answer that is not streamed", () => {
  test("[MODEL-22] its text and what it used", async () => {
    const open = modelOf(async () => ({
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "one " },
        { type: "text", text: "two" },
      ],
      finishReason: { unified: "stop", raw: "stop" },
      usage,
      warnings: [],
    }));
    expect(await ask(open).answer).toEqual({ kind: "generated", text: "one two", usage });
  });

  test.each<[string, () => Promise<LanguageModelV3>, string]>([
    ["a package that cannot be opened", () => Promise.reject(new Error("no KEY")), "provider-unreachable"],
    [
      "a model that throws at once",
      modelOf(() => {
        throw new Error("bang");
      }),
      "provider-unreachable",
    ],
    [
      "a refusal",
      modelOf(() =>
        Promise.reject(new APICallError({ message: "bad KEY", url: "x", requestBodyValues: {}, statusCode: 400 })),
      ),
      "provider-refused",
    ],
  ])("[MODEL-22] %s is a value, without secrets", async (_name, open, code) => {
    const answer = await ask(open).answer;
    expect(answer).toMatchObject({ kind: "failed", failure: { code } });
    expect(JSON.stringify(answer)).not.toContain("KEY");
  });

  test("[MODEL-22] silence ends it, and so does whoever asked", async () => {
    const aborted: boolean[] = [];
    const silent = modelOf(
      ({ abortSignal }) => new Promise<never>(() => abortSignal?.addEventListener("abort", () => aborted.push(true))),
    );
    const { clock, answer } = ask(silent);
    await settle();
    await clock.advance(4_000);
    expect(await answer).toMatchObject({ kind: "failed", failure: { code: "provider-silent" } });
    const stop = new AbortController();
    const stopped = ask(silent, stop.signal).answer;
    await settle();
    stop.abort();
    expect(await stopped).toEqual({ kind: "cancelled" });
    expect(aborted.length).toBeGreaterThanOrEqual(2);
    expect(await ask(silent, stop.signal).answer).toEqual({ kind: "cancelled" });
  });
});
