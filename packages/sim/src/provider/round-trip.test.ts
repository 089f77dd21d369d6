import { expect, test } from "vitest";
import { anthropicBlocks, firstDivergence } from "../blocks.ts";
import { createFakeProvider } from "./fake-provider.ts";
import { anthropicModel, askPrompt, historyOf, readStep } from "./testing.ts";

const tools = [{ type: "function" as const, name: "read", inputSchema: { type: "object" as const } }];

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
