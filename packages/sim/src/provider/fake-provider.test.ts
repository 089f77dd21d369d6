import { describe, expect, test } from "vitest";
import { createFakeProvider } from "./fake-provider.ts";
import type { Reply } from "./script.ts";
import { anthropicModel, askPrompt, openaiModel, partOf, readStep, textOfParts } from "./testing.ts";

const full: Reply = {
  blocks: [
    { type: "thinking", text: "I look at the file first." },
    { type: "redacted_thinking" },
    { type: "text", text: "Reading 😀 the file now, one moment." },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.ts", lines: [1, 2] } },
  ],
  usage: { output: 33 },
  chunkSize: 5,
};
const tools = [
  {
    type: "function" as const,
    name: "read",
    description: "Reads a file",
    inputSchema: { type: "object" as const, properties: { path: { type: "string" as const } } },
  },
];

describe("the real Anthropic adapter", () => {
  test("[SIM-1] reads a whole step: thinking, redacted thinking, text, a call, usage and the finish", async () => {
    await using provider = await createFakeProvider({ script: [full] });
    const step = await readStep(anthropicModel(provider.url), { tools });
    expect(step.thrown).toBeNull();
    expect(textOfParts(step, "reasoning-delta")).toBe("I look at the file first.");
    expect(textOfParts(step)).toBe("Reading 😀 the file now, one moment.");
    expect(partOf(step, "tool-call")).toMatchObject({
      toolCallId: "toolu_1",
      toolName: "read",
      input: '{"path":"a.ts","lines":[1,2]}',
    });
    expect(partOf(step, "finish")).toMatchObject({
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: { outputTokens: { total: 33 } },
    });
    const signature = step.parts.flatMap((part) =>
      part.type === "reasoning-delta" ? [part.providerMetadata?.anthropic?.signature] : [],
    );
    expect(signature.filter((one) => one !== undefined)).toEqual([expect.stringMatching(/^sig-/)]);
    expect(JSON.stringify(step.parts)).toContain("redactedData");
    expect(provider.left()).toBe(0);
  });

  test("[SIM-1] reads the same reply unstreamed", async () => {
    await using provider = await createFakeProvider({ script: [full] });
    const result = await anthropicModel(provider.url).doGenerate({
      prompt: askPrompt("go"),
      maxOutputTokens: 9,
      tools,
    });
    expect(result.content.map((part) => part.type)).toEqual(["reasoning", "reasoning", "text", "tool-call"]);
    expect(result.finishReason.unified).toBe("tool-calls");
    expect(result.usage.outputTokens.total).toBe(33);
  });

  test("takes deltas as they are given, also halves of a character and broken arguments", async () => {
    const reply: Reply = {
      blocks: [
        { type: "text", text: "", deltas: ["\ud83d", "\ude00", "!"] },
        { type: "tool_use", name: "read", rawInput: '{"path": "a' },
      ],
      stopReason: "max_tokens",
    };
    await using provider = await createFakeProvider({ script: [reply] });
    const step = await readStep(anthropicModel(provider.url), { tools });
    const deltas = step.parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(deltas).toEqual(["\ud83d", "\ude00", "!"]);
    const input = step.parts.flatMap((part) => (part.type === "tool-input-delta" ? [part.delta] : [])).join("");
    expect(input).toBe('{"path": "a');
    expect(partOf(step, "finish")?.finishReason.unified).toBe("length");
  });

  test("keeps a cache warm without using up the script", async () => {
    await using provider = await createFakeProvider({ script: [{ blocks: [{ type: "text", text: "hi" }] }] });
    const model = anthropicModel(provider.url);
    const ping = await model.doGenerate({ prompt: askPrompt("go"), maxOutputTokens: 0 });
    expect(ping.content).toEqual([]);
    expect(provider.left()).toBe(1);
    expect(textOfParts(await readStep(model))).toBe("hi");
  });

  test("is told what was read from and written to the cache", async () => {
    await using provider = await createFakeProvider({ reply: () => ({ blocks: [{ type: "text", text: "ok" }] }) });
    const model = anthropicModel(provider.url);
    const marker = { anthropic: { cacheControl: { type: "ephemeral" } } };
    const prompt = [
      { role: "user" as const, content: [{ type: "text" as const, text: "x".repeat(400) }], providerOptions: marker },
    ];
    const first = partOf(await readStep(model, { prompt }), "finish")?.usage.inputTokens;
    const second = partOf(await readStep(model, { prompt }), "finish")?.usage.inputTokens;
    expect(first?.cacheWrite).toBeGreaterThan(100);
    expect(first?.cacheRead).toBe(0);
    expect(second).toMatchObject({ cacheRead: first?.cacheWrite, cacheWrite: 0 });
  });
});

describe("the real OpenAI-compatible adapter", () => {
  test("[SIM-1] reads a whole step: reasoning, text, a call, usage and the finish", async () => {
    await using provider = await createFakeProvider({ script: [full] });
    const step = await readStep(openaiModel(provider.url), { tools });
    expect(step.thrown).toBeNull();
    expect(textOfParts(step, "reasoning-delta")).toBe("I look at the file first.");
    expect(textOfParts(step)).toBe("Reading 😀 the file now, one moment.");
    expect(partOf(step, "tool-call")).toMatchObject({ toolCallId: "toolu_1", input: '{"path":"a.ts","lines":[1,2]}' });
    expect(partOf(step, "finish")).toMatchObject({
      finishReason: { unified: "tool-calls" },
      usage: { outputTokens: { total: 33 } },
    });
  });

  test("[SIM-1] reads the same reply unstreamed, and cached tokens of the second request", async () => {
    await using provider = await createFakeProvider({ reply: () => full });
    const model = openaiModel(provider.url);
    const options = { prompt: askPrompt("x".repeat(200)), tools };
    const first = await model.doGenerate(options);
    expect(first.content.map((part) => part.type).sort()).toEqual(["reasoning", "text", "tool-call"]);
    expect(first.usage.inputTokens.cacheRead).toBe(0);
    const second = await model.doGenerate(options);
    expect(second.usage.inputTokens.cacheRead).toBe(second.usage.inputTokens.total);
  });
});

describe("the script", () => {
  test("[SIM-9] answers in order, prefers entries that match, and refuses plainly when it is used up", async () => {
    const say = (text: string): Reply => ({ blocks: [{ type: "text", text }] });
    await using provider = await createFakeProvider({
      script: [{ match: { lastUserText: "^title" }, reply: say("a title"), times: "always" }, say("one"), say("two")],
    });
    const model = anthropicModel(provider.url);
    const ask = async (text: string) => textOfParts(await readStep(model, { prompt: askPrompt(text) }));
    expect([await ask("x"), await ask("title please"), await ask("y"), await ask("title again")]).toEqual([
      "one",
      "a title",
      "two",
      "a title",
    ]);
    const { thrown } = await readStep(model);
    expect(String(thrown)).toContain("no scripted reply is left");
    expect(provider.calls).toHaveLength(5);
  });

  test("a function sees results and earlier calls, and so drives a job", async () => {
    await using provider = await createFakeProvider({
      reply: ({ lastResults, lastUserText }) =>
        lastResults.length === 0
          ? { blocks: [{ type: "tool_use", id: "toolu_9", name: "read", input: { path: lastUserText } }] }
          : { blocks: [{ type: "text", text: `${lastResults[0]?.name} gave ${lastResults[0]?.text}` }] },
    });
    for (const model of [anthropicModel(provider.url), openaiModel(provider.url)]) {
      const first = await readStep(model, { prompt: askPrompt("a.ts"), tools });
      expect(partOf(first, "tool-call")?.input).toBe('{"path":"a.ts"}');
      const prompt = [
        ...askPrompt("a.ts"),
        {
          role: "assistant" as const,
          content: [{ type: "tool-call" as const, toolCallId: "toolu_9", toolName: "read", input: { path: "a.ts" } }],
        },
        {
          role: "tool" as const,
          content: [
            {
              type: "tool-result" as const,
              toolCallId: "toolu_9",
              toolName: "read",
              output: { type: "text" as const, value: "AAA" },
            },
          ],
        },
      ];
      expect(textOfParts(await readStep(model, { prompt, tools }))).toBe("read gave AAA");
    }
  });
});

describe("what is recorded", () => {
  test("[SIM-7] headers without the key, the exact body, and how many calls were open", async () => {
    await using provider = await createFakeProvider({ script: [full, full] });
    const model = anthropicModel(provider.url, "sk-very-secret");
    const gate = provider.gate();
    const first = readStep(model, { tools });
    await gate.started;
    await readStep(model, { tools });
    gate.release();
    await first;
    const [one, two] = provider.calls;
    expect(JSON.stringify(one?.headers)).not.toContain("sk-very-secret");
    expect(one?.headers["x-api-key"]).toBe("[redacted]");
    expect(JSON.parse(one?.rawBody ?? "")).toEqual(one?.body);
    expect([one?.openAtStart, two?.openAtStart]).toEqual([0, 1]);
    expect([one?.outcome(), two?.outcome()]).toEqual(["answered", "answered"]);
  });

  test("models are listed in both vendors' shapes, and for Ollama when asked", async () => {
    await using provider = await createFakeProvider({ models: ["m1", "m2"], ollama: true });
    const get = async (path: string, headers = {}) => (await fetch(provider.url + path, { headers })).json();
    expect(await get("/v1/models")).toMatchObject({ object: "list", data: [{ id: "m1" }, { id: "m2" }] });
    expect(await get("/v1/models", { "anthropic-version": "x", "x-api-key": "any" })).toMatchObject({
      has_more: false,
      last_id: "m2",
    });
    expect(await get("/api/tags")).toMatchObject({ models: [{ name: "m1" }, { name: "m2" }] });
    expect(provider.calls).toHaveLength(0);
    await using plain = await createFakeProvider();
    expect((await fetch(`${plain.url}/api/tags`)).status).toBe(404);
  });

  test("[SIM-2] the list of models is for the right key only", async () => {
    await using provider = await createFakeProvider({ models: ["m1"], apiKey: "right" });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`${provider.url}/v1/models`, { headers })).status;
    expect(await status({ "anthropic-version": "x", "x-api-key": "right" })).toBe(200);
    expect(await status({ authorization: "Bearer right" })).toBe(200);
    expect(await status({ "anthropic-version": "x", "x-api-key": "wrong" })).toBe(401);
    expect(await status({})).toBe(401);
  });
});
