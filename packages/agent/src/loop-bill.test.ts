import { memoryLog } from "@varve/log";
import type { StoredRow } from "@varve/protocol";
import { createFakeClock, createFakeIds, createFakeProvider } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { unknownFacts } from "./model/facts.ts";
import { createModelRegistry } from "./model/registry.ts";
import { nextOf } from "./next.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { providerTab } from "./testing/provider-tab.ts";
import { RowList, turnIdOf } from "./testing/rows.ts";
import type { Answer, ScriptedPart } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { startTab, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

const prices = { input: 1, output: 10, read: 0.1, write5m: 1.25, write1h: 2, tiers: [] };

/** As Anthropic begins a message: what the input costs is told here. */
const begun: ScriptedPart = {
  type: "raw",
  rawValue: {
    type: "message_start",
    message: {
      usage: {
        input_tokens: 100,
        cache_read_input_tokens: 2_000,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
      },
    },
  },
};

async function world(answers: readonly Answer[]) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers, { facts: { ...unknownFacts, prices } });
  const tools = fakeToolBox([{ name: "echo", run: () => ok("done") }]);
  const tab = await startTab({ log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models });
  return { tab, clock, requests: model.requests };
}
const bills = (rows: readonly StoredRow[]) => rows.flatMap((row) => (isKind(row, "usage") ? [row.data] : []));
const cutBill = { fresh: 100, read: 2_000, write5m: 30, write1h: 0, cut: true, purpose: "step" };

describe("a step that broke off", () => {
  test("[AGENT-115] stopped in the middle: its input as told, its output as far as it came", async () => {
    const { tab } = await world([[begun, ...say("x".repeat(400)).slice(0, 2), { type: "hang" }]]);
    await tab.send("go");
    await tab.until(() => tab.open.size > 0);
    tab.stop();
    await tab.idle();
    expect(bills(tab.rows)).toMatchObject([{ ...cutBill, output: 100 }]);
    expect(bills(tab.rows)[0]?.price).toBeCloseTo((100 + 200 + 37.5 + 1_000) / 1e6, 12);
    expect(wordsOf(tab.rows)).toEqual(["user:go", `text?:${"x".repeat(400)}`, "end:stopped"]);
  });

  test("[AGENT-115] tried again: both tries are billed, and only the whole one is a finish", async () => {
    const broken: Answer = [begun, call("A", "echo", {}), { type: "throw", error: new Error("socket closed") }];
    const { tab, clock } = await world([
      broken,
      [call("B", "echo", {}), finish("tool-calls")],
      [...say("ok"), finish()],
    ]);
    await tab.send("go");
    await tab.until(() => tab.retries.length > 0);
    await clock.advance(60_000);
    await tab.idle();
    expect(bills(tab.rows).map(({ cut }) => cut ?? false)).toEqual([true, false, false]);
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "call:A",
      "void:0",
      "call:B",
      "result:B=done",
      "text:ok",
      "end:done",
    ]);
  });

  test("[AGENT-115] failed for good: billed once, and its calls are closed", async () => {
    const { tab } = await world([
      [begun, call("A", "echo", {}), { type: "throw", error: { message: "bad", type: "invalid_request_error" } }],
    ]);
    await tab.send("go");
    await tab.idle();
    expect(bills(tab.rows)).toMatchObject([cutBill]);
    expect(wordsOf(tab.rows).at(-1)).toBe("end:error");
    expect(tab.rows.filter((row) => row.type === "tool_result")).toHaveLength(1);
  });

  test("[AGENT-115] a bill of a broken try makes no step finished", () => {
    const rows = new RowList().user("go").request().call("A").usage({ cut: true });
    expect(nextOf(rows.rows, turnIdOf("t1"))).toEqual({ kind: "request", step: 1 });
  });

  test("[AGENT-115] a stream that told nothing is not billed: unknown is never 0", async () => {
    const { tab } = await world([[...say("half").slice(0, 2), { type: "hang" }]]);
    await tab.send("go");
    await tab.until(() => tab.open.size > 0);
    tab.stop();
    await tab.idle();
    expect(bills(tab.rows)).toEqual([]);
  });

  test("[AGENT-115] over the real adapter: a message that was cut had told its input", async () => {
    const usage = { input: 100, cacheRead: 40, cacheWrite: 7, output: 9 };
    const blocks = [{ type: "text" as const, text: "one two three four" }];
    await using provider = await createFakeProvider({
      script: [{ blocks, usage, fail: { kind: "cut", at: 1 } }, { blocks: [{ type: "text", text: "ok" }] }],
    });
    const clock = createFakeClock();
    const env = { ANTHROPIC_API_KEY: "sk-ant-test-key", ANTHROPIC_BASE_URL: provider.url };
    const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
    const model = "anthropic/claude-sonnet-4-5";
    const tools = fakeToolBox([]);
    const tab = await providerTab({ clock, ids: createFakeIds(), log: memoryLog(), tools, models, model });
    await tab.send("go");
    await tab.until(() => tab.retries.length > 0);
    await clock.advance(60_000);
    await tab.idle();
    const [cut, whole] = bills(tab.rows);
    expect(cut).toMatchObject({ cut: true, read: 40, write5m: 7 });
    expect(cut?.output).toBeGreaterThan(0);
    expect(cut?.price).toBeGreaterThan(0);
    expect(whole?.cut).toBeUndefined();
  });
});

describe("a request row", () => {
  test("[AGENT-116] says what it was for, how long its entries live and how large its body was", async () => {
    const { tab } = await world([
      [call("A", "echo", {}), finish("tool-calls")],
      [...say("ok"), finish()],
    ]);
    await tab.send("go");
    await tab.idle();
    const requests = tab.rows.flatMap((row) => (isKind(row, "request") ? [row.data] : []));
    expect(requests).toMatchObject([
      { purpose: "step", ttl: "5m" },
      { purpose: "step", ttl: "5m" },
    ]);
    const [one, two] = requests.map(({ chars }) => chars ?? 0);
    expect(one).toBeGreaterThan(10);
    expect(two).toBeGreaterThan(one ?? 0);
  });

  test("[AGENT-116] the bill counts from the moment at which the request began", async () => {
    const clock = createFakeClock();
    const model = scriptModel(clock, [
      [call("A", "wait", {}), finish("tool-calls")],
      [...say("ok"), finish()],
    ]);
    const wait = async () => {
      await clock.advance(500);
      return ok("done");
    };
    const tools = fakeToolBox([{ name: "wait", run: wait }]);
    const tab = await startTab({ log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models });
    const began = clock.now();
    await tab.send("go");
    await tab.idle();
    expect(bills(tab.rows).map(({ startedAt }) => startedAt)).toEqual([began, began + 500]);
  });
});
