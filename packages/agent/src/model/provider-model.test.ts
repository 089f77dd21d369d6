import type { LanguageModelV3, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { createFakeClock, settle } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { finish, say } from "../testing/script-model.ts";
import type { ModelPart } from "./model.ts";
import { streamModel } from "./provider-model.ts";

type Part = LanguageModelV3StreamPart;

function modelOf(doStream: LanguageModelV3["doStream"]): () => Promise<LanguageModelV3> {
  return async () => ({
    specificationVersion: "v3",
    provider: "x",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream,
  });
}
const streaming = (pull: (controller: ReadableStreamDefaultController<Part>) => unknown) =>
  modelOf(async () => ({
    stream: new ReadableStream<Part>(
      { pull: async (controller) => void (await pull(controller)) },
      { highWaterMark: 0 },
    ),
  }));
const playing = (parts: readonly Part[]) => {
  let at = 0;
  return streaming((controller) => {
    const part = parts[at++];
    if (part === undefined) controller.close();
    else controller.enqueue(part);
  });
};
const nothing = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const guessed: Extract<Part, { type: "finish" }> = {
  type: "finish",
  finishReason: { unified: "tool-calls", raw: undefined },
  usage: { inputTokens: nothing, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
};
const never = new Promise<never>(() => undefined);

function listen(open: () => Promise<LanguageModelV3>, signal?: AbortSignal) {
  const clock = createFakeClock();
  const heard: ModelPart[] = [];
  const rules = { clock, idleMs: 1_000, firstMs: 4_000, redact: (text: string) => text.replaceAll("KEY", "[secret]") };
  const abort = signal === undefined ? {} : { abortSignal: signal };
  const over = (async () => {
    for await (const part of streamModel(open, { prompt: [], ...abort }, rules)) heard.push(part);
  })();
  return { clock, heard, over, last: () => heard.at(-1) };
}
const ends = (heard: readonly ModelPart[]) =>
  heard.filter((part) => part.type === "finish" || part.type === "failure" || part.type === "cancelled");

describe("every stream ends in one word", () => {
  test.each<[string, () => Promise<LanguageModelV3>, string]>([
    ["a clean finish", playing([...say("a"), finish()]), "finish"],
    ["parts behind the finish are not heard", playing([finish(), ...say("late"), finish()]), "finish"],
    ["an end without a finish", playing(say("a")), "provider-cut"],
    ["nothing at all", playing([]), "provider-cut"],
    ["a finish that means an error", playing([finish("error")]), "provider-cut"],
    ["a finish for a reason nobody knows", playing([finish("other")]), "provider-cut"],
    [
      "a finish that only the package says",
      playing([{ ...guessed, providerMetadata: { openrouter: {} } }]),
      "provider-cut",
    ],
    ["the same from a service that gives no word of its own", playing([guessed]), "finish"],
    [
      "an error part",
      playing([{ type: "error", error: { type: "overloaded_error", message: "busy" } }, finish()]),
      "provider-overloaded",
    ],
    [
      "a stream that breaks",
      streaming((controller) => controller.error(new TypeError("terminated"))),
      "provider-unreachable",
    ],
    ["a request that throws", modelOf(() => Promise.reject(new Error("no route"))), "provider-unreachable"],
    ["a package that cannot be loaded", () => Promise.reject(new Error("Cannot find package")), "provider-unreachable"],
  ])("[MODEL-1] %s", async (_name, open, expected) => {
    const { heard, over, last } = listen(open);
    await over;
    const end = last();
    expect(end?.type === "failure" ? end.failure.code : end?.type).toBe(expected);
    expect(ends(heard)).toHaveLength(1);
  });

  test("[MODEL-1] an abort before the start asks nobody", async () => {
    let asked = 0;
    const open = modelOf(async () => {
      asked += 1;
      return never;
    });
    const { over, heard } = listen(open, AbortSignal.abort("stopped"));
    await over;
    expect(heard).toEqual([{ type: "cancelled" }]);
    expect(asked).toBe(0);
  });

  test.each<[string, () => Promise<LanguageModelV3>]>([
    ["that never answers", modelOf(() => never)],
    ["that never goes on", streaming(() => never)],
  ])("[MODEL-1] an abort ends a request %s, at once and deaf packages too", async (_name, open) => {
    const stop = new AbortController();
    const { over, heard, clock } = listen(open, stop.signal);
    await settle();
    stop.abort("stopped");
    await over;
    expect(heard).toEqual([{ type: "cancelled" }]);
    expect(clock.pending()).toBe(0);
  });

  test("[MODEL-1] an abort that the package reports as an error is an abort", async () => {
    const stop = new AbortController();
    const open = modelOf(
      ({ abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
        }),
    );
    const { over, heard } = listen(open, stop.signal);
    await settle();
    stop.abort("stopped");
    await over;
    expect(heard).toEqual([{ type: "cancelled" }]);
  });
});

describe("silence", () => {
  test("[MODEL-2] before the first part the longer limit holds, then the shorter one", async () => {
    let at = 0;
    const { clock, over, last } = listen(
      streaming((controller) =>
        at++ === 0 ? clock2.then(() => controller.enqueue({ type: "text-start", id: "t" })) : never,
      ),
    );
    let begin: () => void = () => undefined;
    const clock2 = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await clock.advance(3_500);
    expect(last()).toBeUndefined();
    begin();
    await settle();
    expect(last()).toEqual({ type: "text-start", id: "t" });
    await clock.advance(1_000);
    expect(last()?.type).toBe("text-start");
    await clock.advance(250);
    await over;
    expect(last()).toMatchObject({ type: "failure", failure: { code: "provider-silent", retry: { afterMs: null } } });
  });

  test("[MODEL-2] a stream that trickles is never silent, raw signs of life count and are not passed on", async () => {
    let go: () => void = () => undefined;
    let parts = 0;
    const open = streaming(async (controller) => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      parts += 1;
      controller.enqueue(parts < 9 ? { type: "raw", rawValue: { type: "ping" } } : finish());
    });
    const { clock, over, heard } = listen(open);
    for (let round = 0; round < 9; round++) {
      await clock.advance(900);
      go();
      await settle();
    }
    await over;
    expect(heard.map((part) => part.type)).toEqual(["finish"]);
  });

  test("[MODEL-2] the time that the reader takes is not the provider's silence", async () => {
    const clock = createFakeClock();
    const rules = { clock, idleMs: 1_000, firstMs: 1_000, redact: (text: string) => text };
    const heard: string[] = [];
    for await (const part of streamModel(playing([...say("a"), finish()]), { prompt: [] }, rules)) {
      heard.push(part.type);
      await clock.advance(10_000);
    }
    expect(heard.at(-1)).toBe("finish");
  });
});

test("[MODEL-3] whoever stops listening ends the request", async () => {
  const clock = createFakeClock();
  const rules = { clock, idleMs: 1_000, firstMs: 1_000, redact: (text: string) => text };
  let aborted = false;
  const open = modelOf(async ({ abortSignal }) => {
    abortSignal?.addEventListener("abort", () => {
      aborted = true;
    });
    return playing([...say("a"), finish()])().then((model) => model.doStream({ prompt: [] }));
  });
  for await (const _part of streamModel(open, { prompt: [] }, rules)) break;
  expect(aborted).toBe(true);
  expect(clock.pending()).toBe(0);
});

test("[MODEL-4] a failure's words hold no secret", async () => {
  const { over, last } = listen(playing([{ type: "error", error: { type: "x", message: "bad key KEY given" } }]));
  await over;
  expect(JSON.stringify(last())).not.toContain("KEY");
});
