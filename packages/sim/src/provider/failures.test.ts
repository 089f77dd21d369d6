import { describe, expect, test } from "vitest";
import { createFakeProvider } from "./fake-provider.ts";
import type { Reply, ReplyBlock } from "./script.ts";
import { anthropicModel, askPrompt, openaiModel, partOf, readStep, textOfParts } from "./testing.ts";

const hello: ReplyBlock = { type: "text", text: "", deltas: ["Hel", "lo ", "you"] };

async function stepOf(reply: Reply, vendor: "anthropic" | "openai" = "anthropic") {
  await using provider = await createFakeProvider({ script: [reply] });
  const model = vendor === "anthropic" ? anthropicModel(provider.url) : openaiModel(provider.url);
  const step = await readStep(model);
  return { ...step, outcome: await provider.calls[0]?.ended };
}

describe("a failed status", () => {
  test.each([
    [429, true, { "retry-after": "3" }],
    [529, true, {}],
    [400, false, {}],
    [401, false, {}],
  ])("%i reaches the adapter with its headers", async (status, isRetryable, headers) => {
    const { thrown, outcome } = await stepOf({ fail: { kind: "status", status, headers } });
    expect(thrown).toMatchObject({ statusCode: status, isRetryable, responseHeaders: headers });
    expect(outcome).toBe("failed");
  });

  test("may echo the key of the caller", async () => {
    await using provider = await createFakeProvider({
      script: [{ fail: { kind: "status", status: 401, echoKey: true } }],
    });
    const { thrown } = await readStep(anthropicModel(provider.url, "sk-echoed"));
    expect(String(thrown)).toContain("sk-echoed");
  });

  test("a wrong key is refused when the server has one", async () => {
    await using provider = await createFakeProvider({ apiKey: "right", reply: () => ({ blocks: [hello] }) });
    expect((await readStep(anthropicModel(provider.url, "wrong"))).thrown).toMatchObject({ statusCode: 401 });
    expect((await readStep(openaiModel(provider.url))).thrown).toMatchObject({ statusCode: 401 });
    expect(textOfParts(await readStep(anthropicModel(provider.url, "right")))).toBe("Hello you");
  });
});

describe("a failure inside a stream", () => {
  test.each([
    ["request", ""],
    ["start", ""],
    [2, "Hello "],
    ["end", "Hello you"],
  ] as const)("[SIM-5] an error event at %s comes after exactly that text", async (at, text) => {
    const step = await stepOf({ blocks: [hello], fail: { kind: "error-event", at } });
    if (step.thrown === null) {
      expect(textOfParts(step)).toBe(text);
      expect(JSON.stringify(partOf(step, "error"))).toContain("verloaded");
    } else {
      expect(text).toBe("");
      expect(step.thrown).toMatchObject({ statusCode: 529 });
    }
    expect(partOf(step, "finish")?.finishReason.unified ?? "error").toBe("error");
  });

  test.each([
    ["cut", 2],
    ["clean-end", 2],
    ["cut", "end"],
    ["clean-end", "end"],
  ] as const)("[SIM-5] a %s at %s lets out what was said and no finish", async (kind, at) => {
    const step = await stepOf({ blocks: [hello], fail: { kind, at } });
    expect(textOfParts(step)).toBe(at === "end" ? "Hello you" : "Hello ");
    expect(partOf(step, "finish")).toBeUndefined();
    expect(step.outcome).toBe("failed");
  });

  test("a cut in the middle of a call's arguments leaves no call", async () => {
    const call: ReplyBlock = { type: "tool_use", name: "bash", rawInput: '{"command":"rm -rf /tmp/a"}' };
    const step = await stepOf({ blocks: [call], chunkSize: 8, fail: { kind: "cut", at: 2 } });
    expect(partOf(step, "tool-input-delta")).toBeDefined();
    expect(partOf(step, "tool-call")).toBeUndefined();
  });

  test("the other vendor: an error event, a cut, a clean end", async () => {
    for (const kind of ["error-event", "cut", "clean-end"] as const) {
      const step = await stepOf({ blocks: [hello], fail: { kind, at: 1 } }, "openai");
      expect(textOfParts(step)).toBe("Hel");
      expect(["error", "other", undefined]).toContain(partOf(step, "finish")?.finishReason.unified);
    }
  });

  test("[SIM-6] silence lasts until the caller gives up", async () => {
    await using provider = await createFakeProvider({
      script: [{ blocks: [hello], fail: { kind: "silence", at: 1 } }],
    });
    const abort = new AbortController();
    const { stream } = await anthropicModel(provider.url).doStream({
      prompt: askPrompt("go"),
      maxOutputTokens: 9,
      abortSignal: abort.signal,
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of stream) {
        seen.push(part.type);
        if (part.type === "text-delta") abort.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(seen).toContain("text-delta");
    expect(seen).not.toContain("finish");
    expect(await provider.calls[0]?.ended).toBe("caller-gone");
  });
});

describe("a gate", () => {
  test("[SIM-6] holds before the first byte, lets out by deltas, adds its own, and ends", async () => {
    await using provider = await createFakeProvider({ script: [{ blocks: [hello] }] });
    const gate = provider.gate();
    const seen: string[] = [];
    const { stream, ended } = await openHeld(provider.url, gate, seen);
    expect(seen.join("")).toBe("");
    await gate.step(1);
    gate.emit("-");
    await stream.until("Hel-");
    await gate.step(1);
    gate.emit({ type: "thinking", text: "hm" });
    gate.release();
    await ended;
    expect(seen.join("")).toBe("Hel-lo you");
    expect(await gate.ended).toBe("answered");
  });

  test("a reply that holds itself is taken hold of afterwards, and can be made to fail", async () => {
    await using provider = await createFakeProvider({ script: [{ blocks: [hello], holdAfter: 2 }] });
    const reading = readStep(anthropicModel(provider.url));
    await provider.arrived(1);
    const gate = provider.gate();
    await gate.started;
    gate.fail({ kind: "cut" });
    const step = await reading;
    expect(textOfParts(step)).toBe("Hello ");
    expect(partOf(step, "finish")).toBeUndefined();
  });

  test("[SIM-2] says that its request was refused", async () => {
    await using provider = await createFakeProvider();
    const gate = provider.gate();
    const { thrown } = await readStep(anthropicModel(provider.url), {
      prompt: [{ role: "user", content: [{ type: "text", text: "  " }] }],
    });
    expect(thrown).toMatchObject({ statusCode: 400 });
    await expect(gate.started).rejects.toThrow("whitespace");
  });

  test("[SIM-6] a caller that goes away ends a held call", async () => {
    await using provider = await createFakeProvider({ script: [{ blocks: [hello] }] });
    const gate = provider.gate();
    const abort = new AbortController();
    const reading = readStep(anthropicModel(provider.url), { abortSignal: abort.signal });
    const call = await gate.started;
    abort.abort();
    expect(await call.ended).toBe("caller-gone");
    expect((await reading).thrown).not.toBeNull();
    await provider.idle();
  });
});

async function openHeld(url: string, gate: { readonly started: Promise<unknown> }, seen: string[]) {
  let wake = (): void => undefined;
  const ended = (async () => {
    const { stream } = await anthropicModel(url).doStream({ prompt: askPrompt("go"), maxOutputTokens: 9 });
    for await (const part of stream) {
      if (part.type === "text-delta") seen.push(part.delta);
      wake();
    }
  })();
  await gate.started;
  const until = async (text: string): Promise<void> => {
    while (seen.join("") !== text) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { stream: { until }, ended };
}
