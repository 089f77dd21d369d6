import { describe, expect, test } from "vitest";
import { createFakeProvider, type FakeProvider } from "./fake-provider.ts";
import type { Reply } from "./script.ts";
import {
  type AdapterModel,
  askPrompt,
  chatModel,
  deepseekModel,
  geminiModel,
  historyOf,
  openrouterModel,
  partOf,
  readStep,
  responsesModel,
  textOfParts,
} from "./testing.ts";

const full: Reply = {
  blocks: [
    { type: "thinking", text: "I look at the file first." },
    { type: "text", text: "Reading 😀 the file now, one moment." },
    { type: "tool_use", id: "call_1", name: "read", input: { path: "a.ts", lines: [1, 2] } },
    { type: "tool_use", id: "call_2", name: "read", input: {} },
  ],
  usage: { input: 100, cacheRead: 1000, cacheWrite: 50, output: 33 },
  chunkSize: 5,
};
const inputSchema = { type: "object" as const, properties: { path: { type: "string" as const } } };
const tools = [{ type: "function" as const, name: "read", description: "Reads a file", inputSchema }];
const stored = { providerOptions: { openai: { store: false } } };

const vendors: readonly (readonly [string, (provider: FakeProvider) => AdapterModel])[] = [
  ["OpenAI Responses", ({ url }) => responsesModel(url)],
  ["OpenAI Chat", ({ url }) => chatModel(url)],
  ["Gemini", ({ url }) => geminiModel(url)],
  ["DeepSeek", ({ url }) => deepseekModel(url)],
  ["OpenRouter", ({ url }) => openrouterModel(url)],
];

describe.each(vendors)("the real adapter of %s", (name, modelAt) => {
  test("[SIM-1] reads a whole step: thinking, text, calls, usage and the finish", async () => {
    await using provider = await createFakeProvider({ script: [full] });
    const step = await readStep(modelAt(provider), { tools, ...stored });
    expect(step.thrown).toBeNull();
    expect(partOf(step, "error")).toBeUndefined();
    expect(partOf(step, "stream-start")?.warnings ?? []).toEqual([]);
    if (name !== "OpenAI Chat") expect(textOfParts(step, "reasoning-delta")).toBe("I look at the file first.");
    expect(textOfParts(step)).toBe("Reading 😀 the file now, one moment.");
    const calls = step.parts.filter((part) => part.type === "tool-call");
    expect(calls.map((call) => [call.toolName, JSON.parse(call.input)])).toEqual([
      ["read", { path: "a.ts", lines: [1, 2] }],
      ["read", {}],
    ]);
    const finish = partOf(step, "finish");
    expect(finish?.finishReason.unified).toBe("tool-calls");
    expect(finish?.usage).toMatchObject({ inputTokens: { total: 1150, cacheRead: 1000 }, outputTokens: { total: 33 } });
  });

  test("[SIM-4] a loop that only appends is never refused and loses no thinking", async () => {
    await using provider = await createFakeProvider({
      reply: ({ index }) => ({
        blocks: [
          { type: "thinking", text: `thought ${index}` },
          { type: "text", text: `Step ${index}.` },
          { type: "tool_use", name: "read", input: { z: 1, a: { y: [1, 2], x: "ä😀" } } },
          { type: "tool_use", name: "read", input: { at: index } },
        ],
      }),
    });
    const model = modelAt(provider);
    let prompt = askPrompt("go");
    for (let step = 0; step < 4; step += 1) {
      const { parts, thrown } = await readStep(model, { prompt, tools, ...stored });
      expect(thrown).toBeNull();
      expect(partOf({ parts, thrown }, "stream-start")?.warnings ?? []).toEqual([]);
      prompt = [...prompt, ...historyOf(parts)];
    }
    expect(provider.calls.map((call) => [call.refusal, call.droppedThinking])).toEqual(Array(4).fill([null, 0]));
  });

  test("a refusal by status and an error inside the stream reach it as such", async () => {
    await using provider = await createFakeProvider({
      script: [
        { fail: { kind: "status", status: 429, headers: { "retry-after": "7" } } },
        { blocks: [{ type: "text", text: "half an answer" }], fail: { kind: "error-event", at: 1 } },
      ],
    });
    const refused = await readStep(modelAt(provider), stored);
    expect(refused.thrown).toMatchObject({ statusCode: 429, responseHeaders: { "retry-after": "7" } });
    const broken = await readStep(modelAt(provider), stored);
    expect(broken.thrown !== null || partOf(broken, "error") !== undefined).toBe(true);
  });

  test("[SIM-7] its key is not in the recorded call, and a wrong one is refused", async () => {
    await using provider = await createFakeProvider({ script: [full], apiKey: "another" });
    expect((await readStep(modelAt(provider), stored)).thrown).toMatchObject({ statusCode: 401 });
    expect(JSON.stringify(provider.calls[0]?.headers)).not.toContain("key-1");
  });
});

describe("[SIM-14] thinking that comes back must be what was issued here, for this model", () => {
  const thinking: Reply = {
    blocks: [
      { type: "thinking", text: "hm" },
      { type: "tool_use", name: "read", input: {} },
    ],
  };
  const tampered = (history: ReturnType<typeof historyOf>, from: RegExp, to: string) =>
    JSON.parse(JSON.stringify(history).replace(new RegExp(from, "g"), to)) as ReturnType<typeof historyOf>;

  test.each<[string, (provider: FakeProvider, model?: string) => AdapterModel, string, RegExp]>([
    ["Responses: encrypted content", ({ url }, model) => responsesModel(url, model), "gpt-5.7", /enc-1-/],
    ["Gemini: a thought signature", ({ url }, model) => geminiModel(url, model), "gemini-3.1-pro", /enc-1-/],
    ["OpenRouter: a signature", ({ url }, model) => openrouterModel(url, model), "anthropic/claude-opus-5", /enc-1-/],
    ["DeepSeek: the words", ({ url }, model) => deepseekModel(url, model), "deepseek-v4-flash", /"hm"/],
  ])("%s", async (name, modelAt, other, token) => {
    await using provider = await createFakeProvider({ script: [thinking, thinking] });
    const first = await readStep(modelAt(provider), { tools, ...stored });
    const next = historyOf(first.parts);
    const ask = (model: AdapterModel, history: typeof next) =>
      readStep(model, { prompt: [...askPrompt("go"), ...history], tools, ...stored });
    const invented = tampered(next, token, token.source.startsWith('"') ? '"other"' : "enc-9-");
    expect((await ask(modelAt(provider), invented)).thrown).toMatchObject({ statusCode: 400 });
    if (!name.startsWith("DeepSeek")) {
      expect((await ask(modelAt(provider, other), next)).thrown).toMatchObject({ statusCode: 400 });
    }
    expect((await ask(modelAt(provider), next)).thrown).toBeNull();
  });

  test("Gemini: a call without its signature goes through with the word for that, and is counted", async () => {
    await using provider = await createFakeProvider({ script: [thinking, thinking] });
    const first = await readStep(geminiModel(provider.url), { tools });
    const bare = tampered(
      historyOf(first.parts),
      /"providerOptions":\{"google":\{"thoughtSignature":"[^"]*"\}\}/,
      '"x":1',
    );
    const second = await readStep(geminiModel(provider.url), { prompt: [...askPrompt("go"), ...bare], tools });
    expect(second.thrown).toBeNull();
    expect(provider.calls[1]?.droppedThinking).toBe(1);
  });
});

describe("what each house says beside", () => {
  test("model lists", async () => {
    await using provider = await createFakeProvider({ models: ["m-1"] });
    const get = async (path: string) =>
      (await fetch(`${provider.url}${path}`, { headers: { "x-goog-api-key": "k" } })).json();
    expect(await get("/v1beta/models")).toMatchObject({ models: [{ name: "models/m-1" }] });
    expect(await get("/api/v1/models")).toMatchObject({ data: [{ id: "m-1" }] });
    expect(await get("/models")).toMatchObject({ data: [{ id: "m-1" }] });
  });

  test("OpenRouter tells the written tokens inside the prompt and what it cost", async () => {
    await using provider = await createFakeProvider({ script: [full] });
    const finish = partOf(await readStep(openrouterModel(provider.url), { tools }), "finish");
    expect(finish?.usage.raw).toMatchObject({
      prompt_tokens: 1150,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 50 },
      cost: 100 * 4e-6 + 1000 * 0.4e-6 + 50 * 5e-6 + 33 * 20e-6,
    });
  });

  test("OpenAI tells writes only for models that bill them", async () => {
    await using provider = await createFakeProvider({ script: [full, full] });
    const written = async (model: string) =>
      partOf(await readStep(responsesModel(provider.url, model), { tools, ...stored }), "finish")?.usage.inputTokens
        .cacheWrite;
    expect(await written("gpt-5.6")).toBe(50);
    expect(await written("gpt-5.2")).toBeUndefined();
  });

  test("an answer that is not streamed says the same", async () => {
    await using provider = await createFakeProvider({ script: [full, full, full, full, full] });
    const ask = { prompt: askPrompt("go"), maxOutputTokens: 9, tools, ...stored };
    for (const model of [
      responsesModel(provider.url),
      chatModel(provider.url),
      geminiModel(provider.url),
      deepseekModel(provider.url),
      openrouterModel(provider.url),
    ]) {
      const { content, finishReason } = await model.doGenerate(ask);
      expect(content.filter((part) => part.type === "tool-call")).toHaveLength(2);
      expect(content.find((part) => part.type === "text")).toMatchObject({
        text: "Reading 😀 the file now, one moment.",
      });
      expect(finishReason.unified).toBe("tool-calls");
    }
  });
});
