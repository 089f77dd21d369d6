import type { LanguageModelV3Message, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { anthropicBlocks, firstDivergence } from "../blocks.ts";
import { createFakeProvider } from "./fake-provider.ts";
import { anthropicModel, askPrompt, readStep } from "./testing.ts";

const tools = [{ type: "function" as const, name: "read", inputSchema: { type: "object" as const } }];

/** What a client keeps of a step, as the next prompt's messages: the plainest loop there is. */
function historyOf(parts: readonly LanguageModelV3StreamPart[]): readonly LanguageModelV3Message[] {
  type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];
  const said = new Map<string, { type: "text" | "reasoning"; text: string; providerOptions?: Record<string, never> }>();
  const content: AssistantPart[] = [];
  const results: LanguageModelV3Message[] = [];
  for (const part of parts) {
    if (part.type === "text-start" || part.type === "reasoning-start") {
      const block = { type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const), text: "" };
      said.set(part.id, block);
      content.push(block);
    }
    if (!("id" in part) || part.id === undefined) {
      if (part.type !== "tool-call") continue;
      content.push({
        type: "tool-call",
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: JSON.parse(part.input),
      });
      const output = { type: "text" as const, value: `result of ${part.toolCallId}` };
      results.push({
        role: "tool",
        content: [{ type: "tool-result", toolCallId: part.toolCallId, toolName: part.toolName, output }],
      });
      continue;
    }
    const block = said.get(part.id);
    if (block === undefined) continue;
    if ("delta" in part) block.text += part.delta;
    if ("providerMetadata" in part && part.providerMetadata !== undefined) {
      Object.assign(block, { providerOptions: part.providerMetadata });
    }
  }
  return [{ role: "assistant", content }, ...results];
}

test("[SIM-4] a loop over the real adapter that only appends keeps all its thinking, interleaved and redacted, step after step", async () => {
  await using provider = await createFakeProvider({
    reply: ({ index }) => ({
      blocks: [
        { type: "thinking", text: index % 2 === 0 ? "" : `thought ${index}` },
        { type: "text", text: `Step ${index}, part one.` },
        { type: "redacted_thinking" },
        { type: "tool_use", name: "read", input: { z: 1, a: { y: [1, 2], x: "ä😀" } } },
        { type: "thinking", text: "between" },
        { type: "tool_use", name: "read", rawInput: '{ "b":  1.0 }' },
      ],
    }),
  });
  const model = anthropicModel(provider.url);
  let prompt = askPrompt("go");
  for (let step = 0; step < 5; step += 1) {
    const { parts, thrown } = await readStep(model, { prompt, tools });
    expect(thrown).toBeNull();
    prompt = [...prompt, ...historyOf(parts)];
  }
  const bodies = provider.calls.map((call) => anthropicBlocks(call.body));
  for (const [at, body] of bodies.entries()) {
    expect(at === 0 ? null : firstDivergence(bodies[at - 1] ?? [], body)).toBeNull();
  }
  expect(provider.calls.map((call) => call.droppedThinking)).toEqual([0, 0, 0, 0, 0]);
  const kinds = bodies.at(-1)?.filter(([, json]) => /^\{"type":"(redacted_)?thinking"/.test(json));
  expect(kinds).toHaveLength(12);
  const edited = [{ role: "system" as const, content: "SYS2" }, ...prompt.slice(1)];
  expect((await readStep(model, { prompt: edited, tools })).thrown).toMatchObject({ statusCode: 400 });
});
