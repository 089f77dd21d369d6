import { describe, expect, test } from "vitest";
import { createFakeProvider } from "./fake-provider.ts";
import type { Failure, Reply } from "./script.ts";
import { anthropicModel, askPrompt, openaiModel, readStep, textOfParts } from "./testing.ts";

const hello: Reply = { blocks: [{ type: "text", text: "hello" }] };
const ask = { prompt: askPrompt("go"), maxOutputTokens: 9 };

describe("an answer that is not streamed", () => {
  test.each<[string, Failure, object]>([
    ["a status", { kind: "status", status: 429 }, { statusCode: 429 }],
    ["an error event", { kind: "error-event" }, { statusCode: 529 }],
    ["a cut", { kind: "cut" }, { isRetryable: true }],
    ["a clean end", { kind: "clean-end" }, { isRetryable: true }],
  ])("fails as a whole with %s", async (_name, fail, error) => {
    await using provider = await createFakeProvider({ script: [{ ...hello, fail }] });
    await expect(anthropicModel(provider.url).doGenerate(ask)).rejects.toMatchObject(error);
    expect(await provider.calls[0]?.ended).toBe("failed");
  });

  test("is held as a whole and released as a whole", async () => {
    await using provider = await createFakeProvider({ script: [hello] });
    const gate = provider.gate();
    const answer = openaiModel(provider.url).doGenerate(ask);
    expect((await gate.started).outcome()).toBeNull();
    gate.release();
    expect((await answer).content).toEqual([{ type: "text", text: "hello" }]);
    expect(await gate.ended).toBe("answered");
  });
});

describe("many calls", () => {
  test("gates pair with calls in order of arrival, and idle waits for all", async () => {
    await using provider = await createFakeProvider({
      reply: ({ lastUserText }) => ({ blocks: [{ type: "text", text: lastUserText }] }),
    });
    const gates = [provider.gate(), provider.gate()];
    const model = anthropicModel(provider.url);
    const first = readStep(model, { prompt: askPrompt("one") });
    await provider.arrived(1);
    const second = readStep(model, { prompt: askPrompt("two") });
    const calls = await Promise.all(gates.map((gate) => gate.started));
    expect(calls.map((call) => call.index)).toEqual([0, 1]);
    gates[1]?.release();
    expect(textOfParts(await second)).toBe("two");
    expect(calls.map((call) => call.outcome())).toEqual([null, "answered"]);
    gates[0]?.release();
    await provider.idle();
    expect(textOfParts(await first)).toBe("one");
    expect(calls.map((call) => call.openAtStart)).toEqual([0, 1]);
  });

  test("closing cuts what is open, ends its gate, and may be done twice", async () => {
    const provider = await createFakeProvider({ script: [hello] });
    const gate = provider.gate();
    const reading = readStep(anthropicModel(provider.url));
    await gate.started;
    await provider.close();
    await provider.close();
    expect((await reading).thrown).not.toBeNull();
    expect(await gate.ended).toBe("caller-gone");
  });

  test("a reply function that throws is a failed answer with its words, and the next call is served", async () => {
    await using provider = await createFakeProvider({
      script: [
        {
          reply: () => {
            throw new Error("script is wrong");
          },
        },
        hello,
      ],
    });
    const model = anthropicModel(provider.url);
    expect(String((await readStep(model)).thrown)).toContain("script is wrong");
    expect(textOfParts(await readStep(model))).toBe("hello");
  });

  test("a body over the vendor's limit is refused with 413 and the server lives", async () => {
    await using provider = await createFakeProvider({ script: [hello] });
    const model = anthropicModel(provider.url);
    const { thrown } = await readStep(model, { prompt: askPrompt("x".repeat(33 * 1024 * 1024)) });
    expect(thrown).toMatchObject({ statusCode: 413 });
    expect(textOfParts(await readStep(model))).toBe("hello");
  });

  test("a long answer reaches the caller event by event, so it can be left in the middle", async () => {
    await using provider = await createFakeProvider({
      script: [{ blocks: [{ type: "text", text: "x".repeat(50_000) }], chunkSize: 1 }],
    });
    const abort = new AbortController();
    const { stream } = await anthropicModel(provider.url).doStream({ ...ask, abortSignal: abort.signal });
    let seen = 0;
    await expect(async () => {
      for await (const part of stream) if (part.type === "text-delta" && ++seen === 10) abort.abort();
    }).rejects.toThrow();
    expect(await provider.calls[0]?.ended).toBe("caller-gone");
  });
});
