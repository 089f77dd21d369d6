/** Another model or effort in the middle of a tab, and back, over the real provider packages. */
import { memoryLog, verifyRows } from "@varve/log";
import type { StoredRow } from "@varve/protocol";
import { noTurn } from "@varve/protocol";
import {
  anthropicBlocks,
  createFakeClock,
  createFakeIds,
  createFakeProvider,
  isBlockPrefix,
  type ScriptItem,
} from "@varve/sim";
import { makePrefixData } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { createModelRegistry } from "./model/registry.ts";
import { rowMaker } from "./new-rows.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { providerTab } from "./testing/provider-tab.ts";
import { wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

const first = "anthropic/claude-sonnet-4-5";
const others = ["openai/gpt-5.6", "openai-compatible/some-model", "google/gemini-3-pro", "anthropic/claude-opus-4-5"];

async function world(script: readonly ScriptItem[]) {
  const provider = await createFakeProvider({ script });
  const clock = createFakeClock();
  const ids = createFakeIds();
  const { url } = provider;
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-test-key",
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: "sk-openai-test-key",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: "compat-test-key",
    OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
    GOOGLE_GENERATIVE_AI_API_KEY: "google-test-key",
    GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta`,
  };
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
  const tools = fakeToolBox([{ name: "bash", run: () => ok("ran") }]);
  const chosen = { model: first, effort: "default" };
  const make = rowMaker({ clock, ids });
  const outside = { turnId: noTurn, step: 0 };
  const before = async (rows: readonly StoredRow[]) => {
    const prefix = rows.some((row) => isKind(row, "prefix"))
      ? []
      : [make.system(outside, makePrefixData({ system: ["SYS"], tools: tools.definitions }))];
    return [...prefix, make.system(outside, { kind: "model-changed", ...chosen })];
  };
  const tab = await providerTab({ clock, ids, log: memoryLog(), tools, models, model: first, before });
  const say = async (text: string, model: string, effort = "default") => {
    chosen.model = model;
    chosen.effort = effort;
    await tab.send(text);
    await tab.idle();
    expect(tab.rows.flatMap((row) => (row.type === "error" ? [row.data.message] : []))).toEqual([]);
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
  };
  return { provider, tab, say };
}

const thinks = (text: string, id: string): ScriptItem => ({
  blocks: [
    { type: "thinking", text: `deep ${id}` },
    { type: "text", text },
    { type: "tool_use", id, name: "bash", input: { command: id } },
  ],
});
const plain = (text: string): ScriptItem => ({ blocks: [{ type: "text", text }] });

describe("a switch of the model", () => {
  test.each(others)(
    "[AGENT-134] B19 to %s and back: nothing is rewritten, thinking of the other is skipped, the first one's prefix is unchanged",
    async (other) => {
      const script = [thinks("one", "c1"), plain("done one"), thinks("two", "c2"), plain("done two"), plain("three")];
      const { provider, tab, say } = await world(script);
      await using _provider = provider;
      await say("a", first);
      await say("b", other);
      await say("c", first);
      const bodies = provider.calls.map((call) => call.body);
      expect(bodies).toHaveLength(5);
      const [one, two, , , back] = bodies;
      if (one === undefined || two === undefined || back === undefined) expect.fail("five bodies");
      expect(isBlockPrefix(anthropicBlocks(one), anthropicBlocks(two))).toBe(true);
      expect(isBlockPrefix(anthropicBlocks(two), anthropicBlocks(back))).toBe(true);
      const own = tab.rows.flatMap((row) => (row.type === "thinking" ? [row] : []));
      const signatures = own.map(
        (row) => /"signature":"([^"]+)"/.exec(JSON.stringify(row.data.metadata))?.[1] ?? "none",
      );
      expect(signatures[0]).not.toBe("none");
      expect(JSON.stringify(back)).toContain(signatures[0]);
      expect(JSON.stringify(bodies[2])).not.toContain(signatures[0]);
      expect(JSON.stringify(bodies[3])).not.toContain(signatures[0]);
      expect(JSON.stringify(back)).not.toContain("deep c2");
      expect(JSON.stringify(back)).toContain("two");
      expect(verifyRows(tab.rows)).toEqual([]);
    },
  );

  test("[AGENT-134] of the effort: the same messages, another way to think", async () => {
    const { provider, say } = await world([plain("one"), plain("two"), plain("three")]);
    await using _provider = provider;
    await say("a", "anthropic/claude-opus-5-5");
    await say("b", "anthropic/claude-opus-5-5", "low");
    await say("c", "anthropic/claude-opus-5-5");
    const bodies = provider.calls.map((call) => call.body);
    const blocks = bodies.map(anthropicBlocks);
    expect(isBlockPrefix(blocks[0] ?? [], blocks[1] ?? [])).toBe(true);
    expect(isBlockPrefix(blocks[1] ?? [], blocks[2] ?? [])).toBe(true);
    const options = bodies.map(({ thinking, output_config }) => JSON.stringify([thinking, output_config]));
    expect(options[0]).toBe(options[2]);
    expect(options[0]).not.toBe(options[1]);
  });
});
