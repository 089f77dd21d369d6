import { memoryLog, verifyRows } from "@varve/log";
import type { StoredRow } from "@varve/protocol";
import { createFakeClock, createFakeIds, createFakeProvider, type ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { measure } from "./compaction/measure.ts";
import { createModelRegistry } from "./model/registry.ts";
import type { TurnPorts } from "./ports.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { providerTab } from "./testing/provider-tab.ts";
import { call, finish, say } from "./testing/script-model.ts";
import type { Parts, Seen, WindowModelOptions } from "./testing/window-model.ts";
import { messagesOf, windowModel } from "./testing/window-model.ts";
import { startTab, unlimited, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

interface Options extends Partial<WindowModelOptions> {
  /** Characters of each result. */
  readonly chars?: number;
  readonly auto?: ReturnType<TurnPorts["autoCompact"]>;
}

/** Calls `work` so many times, then says done; asked for a summary it says what it saw. */
const worker =
  (steps: number, summary: (seen: Seen) => Parts = () => say("SUM")) =>
  (seen: Seen): Parts => {
    if (seen.asksForSummary) return summary(seen);
    const done = seen.index >= steps;
    return done ? say("done") : [call(`c${seen.index}`, "work", { n: seen.index })];
  };

async function world(options: Options = {}) {
  const clock = createFakeClock();
  const model = windowModel(clock, { windowTokens: 4_000, answer: worker(30), ...options });
  const tools = fakeToolBox([{ name: "work", run: () => ok("r".repeat(options.chars ?? 1_000)) }]);
  const auto = options.auto ?? { on: false, share: 0.8 };
  const log = memoryLog();
  const tab = await startTab({
    log,
    clock,
    ids: createFakeIds(),
    tools,
    models: model.models,
    spending: () => unlimited(),
    autoCompact: () => auto,
  });
  return { tab, model, clock };
}

const compactions = (rows: readonly StoredRow[]) =>
  rows.flatMap((row) => (isKind(row, "compaction") ? [row.data] : []));
const ofPurpose = (rows: readonly StoredRow[], kind: "request" | "usage", purpose: string) =>
  rows.filter((row) => isKind(row, kind) && "purpose" in row.data && row.data.purpose === purpose);
/** Every result in the prompt has its call in front of it. */
function orphans(messages: readonly string[]): readonly string[] {
  const called = new Set<string>();
  return messages.flatMap((message) => {
    for (const [, id] of message.matchAll(/"type":"tool-call","toolCallId":"([^"]+)"/g)) called.add(id ?? "");
    const results = [...message.matchAll(/"type":"tool-result","toolCallId":"([^"]+)"/g)].map(([, id]) => id ?? "");
    return results.filter((id) => !called.has(id));
  });
}

describe("by itself", () => {
  test("[AGENT-129] between two steps, when the tab has grown past its share of the window", async () => {
    const { tab, model } = await world({ answer: worker(20), auto: { on: true, share: 0.6 } });
    await tab.send("please work");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    const made = compactions(tab.rows);
    expect(made.length).toBeGreaterThan(1);
    for (const { trigger, tokensBefore, tokensAfter } of made) {
      expect(trigger).toBe("auto");
      expect(tokensBefore).toBeGreaterThan(2_400);
      expect(tokensAfter).toBeLessThan(1_600);
    }
    const afterFirst = model.seen.filter((seen) => !seen.asksForSummary).at(-1)?.messages ?? [];
    expect(afterFirst[0]).toContain("SUM");
    expect(afterFirst[1]).toContain("please work");
    for (const { messages } of model.seen) expect(orphans(messages)).toEqual([]);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-129] not where it is off, and not before its share", async () => {
    for (const auto of [
      { on: false, share: 0.1 },
      { on: true, share: 0.99 },
    ]) {
      const { tab } = await world({ answer: worker(8), auto });
      await tab.send("please work");
      await tab.idle();
      expect(compactions(tab.rows)).toEqual([]);
    }
  });

  test("[AGENT-129] one that failed is tried again only when the window has filled further", async () => {
    const { tab, model } = await world({
      answer: worker(40, () => say(" ")),
      chars: 100,
      auto: { on: true, share: 0.6 },
    });
    await tab.send("please work");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    const steps = model.seen.filter(({ tokens }) => tokens > 2_400).length;
    const tried = model.seen.filter(({ asksForSummary }) => asksForSummary).length / 2;
    expect(tried).toBeGreaterThan(0);
    expect(tried).toBeLessThan(steps / 4);
    expect(wordsOf(tab.rows).filter((word) => word === "notice:compaction-failed")).toHaveLength(tried);
  });

  test("[AGENT-120] the estimate of the size after it is close to what is then billed", async () => {
    const { tab } = await world({ answer: worker(12), auto: { on: true, share: 0.6 } });
    await tab.send("please work");
    await tab.idle();
    const at = tab.rows.findIndex((row) => isKind(row, "compaction"));
    const billed = tab.rows.slice(at).find((row) => isKind(row, "usage"));
    const told = compactions(tab.rows)[0]?.tokensAfter ?? 0;
    const fresh = billed !== undefined && isKind(billed, "usage") ? (billed.data.fresh ?? 0) : 0;
    expect(Math.abs(told - fresh) / fresh).toBeLessThan(0.15);
  });
});

describe("the request for the summary", () => {
  test("[AGENT-127] is the tab's body with one question behind it; only its request and its bill are rows", async () => {
    const { tab, model } = await world({ answer: worker(5) });
    await tab.send("please work");
    await tab.idle();
    const before = model.requests.at(-1) ?? expect.fail("a request");
    const from = tab.rows.length;
    expect(await tab.compact()).toMatchObject({ kind: "compacted" });
    const asked = model.requests.at(-1) ?? expect.fail("a request");
    const [old, now] = [messagesOf(before), messagesOf(asked)];
    expect(now.slice(0, old.length)).toEqual(old);
    expect(now).toHaveLength(old.length + 2);
    expect(JSON.stringify([asked.tools, asked.toolChoice, asked.providerOptions, asked.maxOutputTokens])).toBe(
      JSON.stringify([before.tools, before.toolChoice, before.providerOptions, before.maxOutputTokens]),
    );
    const added = tab.rows.slice(from);
    expect(added.map((row) => (row.type === "system" ? row.data.kind : row.type))).toEqual([
      "request",
      "usage",
      "compaction",
    ]);
    expect(ofPurpose(added, "request", "compaction")).toHaveLength(1);
    expect(ofPurpose(added, "usage", "compaction")).toHaveLength(1);
    expect(added.every((row) => row.turnId === "")).toBe(true);
  });

  test("[AGENT-128] a call in its answer is not run; without text it is asked once more", async () => {
    const calls: Parts = [call("x", "work", {})];
    let asked = 0;
    const answer = worker(5, () => (asked++ === 0 ? calls : [...say("SECOND"), ...calls]));
    const { tab } = await world({ answer });
    await tab.send("please work");
    await tab.idle();
    const results = tab.rows.filter((row) => row.type === "tool_result").length;
    expect(await tab.compact()).toMatchObject({ kind: "compacted" });
    expect(compactions(tab.rows)[0]?.summary).toContain("SECOND");
    expect(tab.rows.filter((row) => row.type === "tool_result")).toHaveLength(results);
    expect(tab.rows.some((row) => row.type === "tool_call" && row.data.callId === "x")).toBe(false);
    expect(ofPurpose(tab.rows, "usage", "compaction")).toHaveLength(2);
  });

  test("[AGENT-128] two answers without text: it has failed, and the log means what it meant", async () => {
    const { tab, model } = await world({ answer: worker(5, () => [call("x", "work", {})]) });
    await tab.send("please work");
    await tab.idle();
    const before = messagesOf(model.requests.at(-1) ?? expect.fail("a request"));
    expect(await tab.compact()).toMatchObject({ kind: "failed", fault: { code: "compaction-failed" } });
    expect(compactions(tab.rows)).toEqual([]);
    await tab.send("and now");
    await tab.idle();
    expect(messagesOf(model.requests.at(-1) ?? expect.fail("a request")).slice(0, before.length)).toEqual(before);
  });

  test("[AGENT-128] an answer that the length limit cut is taken, and says so", async () => {
    const cut = [...say("HALF OF"), finish("length", { input: 900, output: 10 })];
    const { tab } = await world({ answer: worker(5, () => cut) });
    await tab.send("please work");
    await tab.idle();
    expect(await tab.compact()).toMatchObject({ kind: "compacted" });
    expect(compactions(tab.rows)[0]?.summary).toMatch(/HALF OF\n\n\[The summary was cut here/);
  });

  const broken: Parts = [...say("HALF").slice(0, 2), { type: "throw", error: new Error("reset") }];
  test.each<[string, Parts, number]>([
    ["refused", [...say("no"), finish("content-filter")], 1],
    [
      "of thinking alone",
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-end", id: "r" },
      ],
      2,
    ],
    ["of blanks", say(" \n "), 2],
    ["cut each time", broken, 4],
  ])("[AGENT-128] an answer %s changes nothing, and is asked for so many times", async (_name, parts, times) => {
    const { tab, model, clock } = await world({ answer: worker(5, () => parts) });
    await tab.send("please work");
    await tab.idle();
    const from = model.requests.length;
    const compacted = tab.compact();
    const settled = { done: false };
    void compacted.then(() => {
      settled.done = true;
    });
    while (!settled.done) await clock.advance(1_000);
    expect(await compacted).toMatchObject({ kind: "failed", fault: { code: "compaction-failed" } });
    expect([compactions(tab.rows), model.requests.length - from]).toEqual([[], times]);
    expect(ofPurpose(tab.rows, "request", "compaction")).toHaveLength(times);
    await tab.send("and now");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    expect(model.seen.at(-1)?.messages.join("")).not.toContain("HALF");
  });

  test("[AGENT-127] one that broke off is billed as far as it told its input, and measures nothing", async () => {
    const usage = { input_tokens: 7, cache_read_input_tokens: 900, cache_creation_input_tokens: 3 };
    const begun: Parts = [{ type: "raw", rawValue: { type: "message_start", message: { usage } } }];
    const error = { message: "no", type: "invalid_request_error" };
    const { tab } = await world({ answer: worker(5, () => [...begun, ...say("HALF"), { type: "throw", error }]) });
    await tab.send("please work");
    await tab.idle();
    const before = measure(tab.rows, 0.3);
    expect(await tab.compact()).toMatchObject({ kind: "failed" });
    const bills = tab.rows.flatMap((row) => (isKind(row, "usage") ? [row.data] : []));
    expect(bills.filter(({ purpose }) => purpose === "compaction")).toMatchObject([{ fresh: 7, read: 900, cut: true }]);
    expect(measure(tab.rows, 0.3)).toBe(before);
  });

  test("[AGENT-122] with too little to sum up nothing is sent", async () => {
    const { tab, model } = await world({ answer: worker(0) });
    await tab.send("hello");
    await tab.idle();
    expect(await tab.compact()).toMatchObject({ kind: "failed", fault: { code: "nothing-to-compact" } });
    expect(model.requests).toHaveLength(1);
  });
});

describe("wished, stopped, undone", () => {
  test("[AGENT-129] a wish while the turn runs is granted at the next step boundary", async () => {
    const { tab, model } = await world({ answer: worker(8) });
    await tab.send("please work");
    await tab.until(() => model.requests.length === 6);
    tab.compactionWish = true;
    await tab.idle();
    expect(compactions(tab.rows)).toMatchObject([{ trigger: "manual" }]);
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-131] a wait before it is asked for again is shown, and a stop ends it", async () => {
    const broken: Parts = [{ type: "throw", error: new Error("reset") }];
    const { tab, model } = await world({ answer: worker(30, () => broken), auto: { on: true, share: 0.6 } });
    await tab.send("please work");
    await tab.until(() => tab.retries.length > 0);
    expect(tab.retries).toMatchObject([{ attempt: 1 }]);
    tab.stop();
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:stopped");
    expect(model.seen.filter((seen) => seen.asksForSummary)).toHaveLength(1);
  });

  test("[AGENT-131] a stop while it is asked for leaves no compaction and ends the turn", async () => {
    const { tab, model } = await world({
      answer: worker(30, () => {
        tab.stop();
        return say("SUM");
      }),
      auto: { on: true, share: 0.6 },
    });
    await tab.send("please work");
    await tab.idle();
    expect(compactions(tab.rows)).toEqual([]);
    expect(wordsOf(tab.rows).at(-1)).toBe("end:stopped");
    expect(model.seen.filter((seen) => seen.asksForSummary)).toHaveLength(1);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-132] an undo restores the bytes of the body before", async () => {
    const { tab, model, clock } = await world({ answer: worker(5) });
    await tab.send("please work");
    await tab.idle();
    const before = messagesOf(model.requests.at(-1) ?? expect.fail("a request"));
    const done = await tab.compact();
    if (done.kind !== "compacted") expect.fail("a compaction");
    await tab.send("after it");
    await tab.idle();
    const shorter = messagesOf(model.requests.at(-1) ?? expect.fail("a request"));
    expect(shorter[1]).toContain("SUM");
    expect(shorter.join("").length).toBeLessThan(before.join("").length);
    const undo = { kind: "compaction-undo", compactionSeq: done.row.seq } as const;
    const base = { ...done.row, createdAt: clock.now() };
    await tab.seal([{ ...base, id: createFakeIds("undo").chunk(), role: "system", type: "system", data: undo }]);
    await tab.send("and again");
    await tab.idle();
    const restored = messagesOf(model.requests.at(-1) ?? expect.fail("a request"));
    expect(restored.slice(0, before.length)).toEqual(before);
    expect(restored.join("")).not.toContain("SUM");
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
  });
});

describe("what does not fit", () => {
  test("[AGENT-130] the provider refuses the body: summed up and sent again, as often as steps come between", async () => {
    const { tab } = await world({ told: null, answer: worker(60) });
    await tab.send("please work");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    const made = compactions(tab.rows);
    expect(made.length).toBeGreaterThan(2);
    expect(new Set(made.map(({ trigger }) => trigger))).toEqual(new Set(["overflow"]));
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-130] a body estimated past the window is not sent at all", async () => {
    const { tab, model } = await world({ answer: worker(16) });
    await tab.send("please work");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    expect(model.requests).toHaveLength(model.seen.length);
  });

  test("[AGENT-125] a request for the summary that does not fit either is made over less of the tab", async () => {
    const error = { message: "prompt is too long: 9999 tokens > 4000 maximum", type: "invalid_request_error" };
    const tooLong: Parts = [{ type: "throw", error }];
    const asked: number[] = [];
    const { tab } = await world({
      told: null,
      answer: worker(16, ({ tokens }) => {
        asked.push(tokens);
        return asked.length < 3 ? tooLong : say("SUM");
      }),
    });
    await tab.send("please work");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    const [first = 0, second = 0, third = 0] = asked;
    expect([second < first * 0.85, third < second * 0.85]).toEqual([true, true]);
    expect(compactions(tab.rows)[0]).toMatchObject({ trigger: "overflow" });
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-130] a result too large for any window: two attempts at most, then one clear error and everything kept", async () => {
    const { tab, model } = await world({ told: null, answer: worker(3), chars: 20_000 });
    await tab.send("please work");
    await tab.idle();
    const words = wordsOf(tab.rows);
    expect(words.slice(-2)).toEqual(["error:context-overflow", "end:error"]);
    expect(words.filter((word) => word.startsWith("error:"))).toHaveLength(1);
    expect(compactions(tab.rows).length).toBeLessThanOrEqual(2);
    expect(model.requests.length).toBeLessThanOrEqual(8);
    expect(verifyRows(tab.rows)).toEqual([]);
  });
});

test("[AGENT-127] over the real adapter: the request for the summary reads what the tab has cached", async () => {
  const script: readonly ScriptItem[] = [
    { blocks: [{ type: "tool_use", id: "call_1", name: "work", input: {} }] },
    { blocks: [{ type: "text", text: "done" }] },
    { blocks: [{ type: "text", text: "THE SUMMARY" }] },
    { blocks: [{ type: "text", text: "after" }] },
  ];
  await using provider = await createFakeProvider({ script });
  const clock = createFakeClock();
  const env = { ANTHROPIC_API_KEY: "sk-ant-test-key", ANTHROPIC_BASE_URL: provider.url };
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
  const model = "anthropic/claude-sonnet-4-5";
  const tools = fakeToolBox([{ name: "work", run: () => ok("some words ".repeat(2_000)) }]);
  const tab = await providerTab({ clock, ids: createFakeIds(), log: memoryLog(), tools, models, model });
  await tab.send("please work");
  await tab.idle();
  expect(await tab.compact()).toMatchObject({ kind: "compacted" });
  const bills = tab.rows.flatMap((row) => (isKind(row, "usage") ? [row.data] : []));
  const [, before, summary] = bills;
  expect(summary).toMatchObject({ purpose: "compaction" });
  expect(before?.write5m).toBeGreaterThan(3_000);
  const cached = (before?.read ?? 0) + (before?.write5m ?? 0);
  expect(summary?.read).toBe(cached);
  expect(summary?.cause).toBeUndefined();
  await tab.send("go on");
  await tab.idle();
  expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:after", "end:done"]);
  expect(JSON.stringify(provider.calls.at(-1)?.body.messages)).toContain("THE SUMMARY");
  const after = tab.rows.flatMap((row) => (isKind(row, "usage") ? [row.data] : [])).at(-1);
  expect(after?.cause).toMatchObject({ kind: "compaction" });
});
