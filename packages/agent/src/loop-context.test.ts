/** What a model reads of its surroundings, as it stands in real request bodies. */
import { memoryLog } from "@varve/log";
import {
  anthropicBlocks,
  createFakeClock,
  createFakeIds,
  createFakeProvider,
  isBlockPrefix,
  type ScriptItem,
} from "@varve/sim";
import { expect, test } from "vitest";
import { createModelRegistry } from "./model/registry.ts";
import { rowsBeforeTurn } from "./prompt/context.ts";
import type { ContextOperations } from "./prompt/operations.ts";
import { systemPrompt } from "./prompt/system-prompt.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { providerTab } from "./testing/provider-tab.ts";
import type { Tool, ToolBox } from "./tools/tool.ts";

test("[CTX-3, CTX-5] H03 instructions stand in the first body and never move; a new day is a note in front of the next message", async () => {
  const fine = { reply: { blocks: [{ type: "text" as const, text: "fine" }] }, times: "always" as const };
  await using provider = await createFakeProvider({ script: [fine] });
  const clock = createFakeClock(new Date(2026, 0, 31, 23, 59, 59, 900).getTime());
  const ids = createFakeIds();
  const files: Record<string, string> = { "/repo/AGENTS.md": "Always use tabs." };
  const repository = { root: "/repo", prefix: "", branch: "main", changed: 0 };
  const operations: ContextOperations = {
    system: "linux 6.1 (x64)",
    shell: "/bin/bash",
    readText: async (path) => {
      const text = files[path];
      return text === undefined ? null : { text, bytes: text.length, clipped: false };
    },
    list: async () => ({ names: ["src/"], more: 0 }),
    place: async () => repository,
    repository: async () => repository,
  };
  const tools = fakeToolBox([{ name: "bash", run: () => ok("") }]);
  const env = { ANTHROPIC_API_KEY: "sk-ant-test-key", ANTHROPIC_BASE_URL: provider.url };
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
  const model = "anthropic/claude-sonnet-4-5";
  const context = { operations, clock, ids, tools, home: "/home/.varve", cwd: "/repo", model, effort: "default" };
  const before = (rows: Parameters<typeof rowsBeforeTurn>[1]) => rowsBeforeTurn(context, rows);
  const tab = await providerTab({ clock, ids, log: memoryLog(), tools, models, model, before });
  const say = async (text: string) => {
    await tab.send(text);
    await tab.idle();
  };
  await say("first");
  await clock.advance(200);
  files["/repo/AGENTS.md"] = "Always use spaces.";
  await say("second");
  repository.branch = "fix";
  await say("third");
  await say("fourth");

  const bodies = provider.calls.map((call) => call.body);
  const heads = bodies.map((body) =>
    JSON.stringify([body.system, body.tools, body.model, body.max_tokens, body.thinking]),
  );
  const unmarked = heads.map((head) => head.replaceAll(',"cache_control":{"type":"ephemeral"}', ""));
  expect(new Set(unmarked).size).toBe(1);
  expect(unmarked[0]).toContain(JSON.stringify(systemPrompt).slice(1, 200));
  expect(unmarked[0]).toContain("Always use tabs.");
  const blocks = bodies.map(anthropicBlocks);
  for (const [index, list] of blocks.entries())
    if (index > 0) expect(isBlockPrefix(blocks[index - 1] ?? [], list)).toBe(true);
  const said = (blocks.at(-1) ?? []).flatMap(([role, json]) => (role === "user" ? [json] : []));
  expect(
    said.map((json) => /Date: (\S+)|"text":"(first|second|third|fourth)"/.exec(json)?.slice(1).find(Boolean)),
  ).toEqual(["2026-01-31", "first", "2026-02-01", "second", "2026-02-01", "third", "fourth"]);
  expect(said[4]).toContain("branch fix");
});

/** As a server of tools would: its list, their order and their texts are its own business, at any time. */
function changingSource(): ToolBox & { list: readonly string[]; word: string } {
  const make = (name: string, word: string): Tool => ({
    definition: { name, description: `${word} ${name}`, inputSchema: { type: "object", properties: {} } },
    prepare: async () => ({
      effect: "read",
      subject: { tool: name, key: name },
      lock: null,
      run: async () => ok(`${word} ran ${name}`),
    }),
  });
  return {
    list: ["a", "b"],
    word: "first",
    get definitions() {
      return this.list.map((name) => make(name, this.word).definition);
    },
    get(name) {
      return this.list.includes(name) ? make(name, this.word) : undefined;
    },
    closePlace: async () => undefined,
    close: async () => undefined,
  };
}

test("[LOOP-18] H03(d) a source of tools that changes under an open tab moves not one byte", async () => {
  const calling = (id: string, name: string): ScriptItem => ({
    blocks: [{ type: "tool_use", id, name, input: {} }],
  });
  const fine: ScriptItem = { blocks: [{ type: "text", text: "fine" }] };
  const script = [fine, calling("call_1", "a"), fine, calling("call_2", "b"), fine];
  await using provider = await createFakeProvider({ script });
  const tools = changingSource();
  const clock = createFakeClock();
  const env = { ANTHROPIC_API_KEY: "sk-ant-test-key", ANTHROPIC_BASE_URL: provider.url };
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
  const model = "anthropic/claude-sonnet-4-5";
  const tab = await providerTab({ clock, ids: createFakeIds(), log: memoryLog(), tools, models, model });
  const say = async (text: string) => {
    await tab.send(text);
    await tab.idle();
  };
  await say("one");
  tools.list = ["c", "b", "a"];
  tools.word = "second";
  await say("two");
  tools.list = ["c"];
  await say("three");

  const bodies = provider.calls.map((call) => call.body);
  expect(bodies).toHaveLength(5);
  expect(new Set(bodies.map((body) => JSON.stringify(body.tools))).size).toBe(1);
  expect(JSON.stringify(bodies[0]?.tools)).toContain("first a");
  const blocks = bodies.map(anthropicBlocks);
  for (const [index, list] of blocks.entries())
    if (index > 0) expect(isBlockPrefix(blocks[index - 1] ?? [], list)).toBe(true);
  const results = tab.rows.flatMap((row) => (row.type === "tool_result" ? [row.data.result] : []));
  expect(results).toEqual(["second ran a", 'There is no tool named "b". The tools are: c.']);
});
