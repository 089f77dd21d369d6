import { type Frame, isFault, type TabId, type TabRecord } from "@varve/protocol";
import { tabRecordSchema } from "@varve/protocol/schema";
import type { ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ends, idle, question, queueOf, send, stateOf, texts, toolRuns } from "./testing/acts.ts";
import { makeRig, type Rig, type RigOptions } from "./testing/rig.ts";

/** A request whose whole input is fresh, at ten dollars for a million tokens. */
const dollars = (price: number) => ({ usage: { input: price * 100_000, cacheRead: 0, cacheWrite: 0, output: 0 } });
const prices = { "anthropic/claude-test": { prices: { input: 10, output: 0, read: 0, write5m: 0, write1h: 0 } } };
const says = (text: string, price = 1): ScriptItem => ({ blocks: [{ type: "text", text }], ...dollars(price) });
const works = (id: string, price = 1): ScriptItem => ({
  blocks: [{ type: "tool_use", id, name: "work", input: {} }],
  ...dollars(price),
});
const priced = (options: RigOptions): Promise<Rig> => makeRig({ prices, ...options });

const record = (rig: Rig, tab: TabId = rig.tab): TabRecord => {
  const found = rig.workspace.get(tab);
  if (isFault(found)) throw new Error(found.message);
  return found;
};
const costOf = (rig: Rig, tab?: TabId) => record(rig, tab).cost;
const answered = async (rig: Rig, id: string, text: string): Promise<void> => {
  const before = (await ends(rig)).length;
  await send(rig, id, text);
  await rig.until("the turn ended", async () => (await ends(rig)).length > before && idle(rig)());
};
const limitRows = async (rig: Rig) =>
  (await rig.rows()).flatMap((row) => (row.type === "system" && row.data.kind === "limit" ? [row.data] : []));
const options = (rig: Rig, patch: Parameters<Rig["workspace"]["patch"]>[1]["options"], tab = rig.tab) =>
  rig.workspace.patch(tab, { options: patch });
/** A turn of three steps, a dollar each, as far as the calls are ended. */
const threeSteps = [works("c1"), works("c2"), says("done")];
const endCall = async (rig: Rig, callId: string): Promise<void> => {
  await rig.until(`${callId} runs`, () => rig.works.has(callId));
  rig.works.get(callId)?.end("ok");
};

describe("what a tab cost", () => {
  test("[TAB-100] its record tells it with each step, and the list's feed with it", async () => {
    await using rig = await priced({ script: [says("one"), says("two", 0.5)] });
    const frames: Frame[] = [];
    const sink = { send: (frame: Frame) => frames.push(frame), buffered: () => 0, closeSlow: () => undefined };
    rig.workspace.subscribeWorkspace(undefined, sink);
    expect(costOf(rig)).toEqual({ price: 0, unpriced: 0 });
    await answered(rig, "m1", "hi");
    expect(costOf(rig)).toEqual({ price: 1, unpriced: 0 });
    await answered(rig, "m2", "again");
    await rig.until("the feed has it", () => {
      const tabs = frames.flatMap((frame) => (frame.type === "workspace" ? frame.tabs : []));
      return tabs.at(-1)?.cost.price === 1.5;
    });
    expect(tabRecordSchema.parse(record(rig))).toEqual(record(rig));
  });

  test("[TAB-100] a request without a price is counted and adds nothing", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await answered(rig, "m1", "hi");
    expect(costOf(rig)).toEqual({ price: 0, unpriced: 1 });
  });

  test("[TAB-101] a restart, a clear, a resend and going back change nothing of it", async () => {
    await using first = await priced({ script: [says("one"), says("two"), says("three")] });
    await answered(first, "m1", "hi");
    await using rig = await first.restarted();
    expect(costOf(rig)).toEqual({ price: 1, unpriced: 0 });
    const seq = (await rig.rows()).find((row) => row.id === "m1")?.seq ?? 0;
    const earlier = record(rig).logId;
    await rig.workspace.resend(rig.tab, { seq, id: rig.id("m2"), text: "hello" }, "test");
    await rig.until("it is answered", async () => (await texts(rig)).includes("assistant:two") && idle(rig)());
    expect(costOf(rig).price).toBe(2);
    await rig.workspace.clear(rig.tab);
    await answered(rig, "m3", "anew");
    await rig.workspace.pointTo(rig.tab, earlier);
    expect(costOf(rig).price).toBe(3);
    const ledger = await rig.workspace.ledger(rig.tab, {});
    expect(isFault(ledger) ? ledger : [ledger.own.price, ledger.steps.length]).toEqual([3, 1]);
    await using again = await rig.restarted();
    expect(costOf(again).price).toBe(3);
  });

  test("[TAB-101] a fork begins at nothing, and what a purged tab cost stays the server's", async () => {
    await using rig = await priced({ script: [says("one"), says("two", 0.25)] });
    await answered(rig, "m1", "hi");
    const fork = await rig.workspace.fork(rig.tab, record(rig).tail);
    if (isFault(fork)) throw new Error(fork.message);
    expect(fork.cost).toEqual({ price: 0, unpriced: 0 });
    await rig.workspace.send(fork.id, { id: rig.id("f1"), text: "go" }, "test");
    await rig.until("the fork answered", () => record(rig, fork.id).cost.price > 0);
    await rig.until("it ended", () => record(rig, fork.id).state === "idle");
    expect([costOf(rig).price, costOf(rig, fork.id).price]).toEqual([1, 0.25]);
    await rig.workspace.remove(rig.tab);
    expect(await rig.workspace.remove(rig.tab)).toBeNull();
    const usage = await rig.workspace.usage(1);
    if (isFault(usage)) throw new Error(usage.message);
    expect(usage.today.price).toBe(1.25);
    expect(usage.tabs.map(({ title, sum }) => [title, sum.price])).toEqual([
      [null, 1],
      ["hi (fork)", 0.25],
    ]);
    await using again = await rig.restarted();
    const after = await again.workspace.usage(1);
    expect(isFault(after) ? after : after.today).toEqual(usage.today);
    expect(isFault(await again.workspace.ledger(rig.tab, {}))).toBe(true);
  });
});

describe("a turn that comes to a limit", () => {
  test("[TAB-102] the demo costs nothing, and that is known: no limit in money asks about it", async () => {
    await using rig = await makeRig({ model: "demo/demo" });
    await options(rig, { moneyMax: 1 });
    rig.limits.dayMoneyMax = 1;
    await answered(rig, "m1", "hi");
    expect(await limitRows(rig)).toEqual([]);
    expect(costOf(rig)).toEqual({ price: 0, unpriced: 0 });
    const looked = await rig.workspace.contexts.look(rig.tab);
    expect(isFault(looked) ? looked.message : looked.warm.state).toBe("off");
  });

  test("[TAB-102] of its tab's money asks, and goes on once it is raised; the limit is the tab's from then on", async () => {
    await using rig = await priced({ script: threeSteps });
    await options(rig, { moneyMax: 1.5 });
    await send(rig, "m1", "go");
    await endCall(rig, "c1");
    await endCall(rig, "c2");
    const askId = await question(rig);
    const head = await rig.workspace.head(rig.tab);
    expect(isFault(head) ? head : head.status.waits).toEqual([{ askId, kind: "limit", callId: "" }]);
    expect(await limitRows(rig)).toEqual([
      { kind: "limit", state: "asked", askId, limit: "tab-money", used: 2, max: 1.5 },
    ]);
    for (const raiseTo of [undefined, 1.9, 2]) {
      const body = { askId, choice: "raise" as const, ...(raiseTo !== undefined && { raiseTo }) };
      expect(await rig.workspace.answer(rig.tab, body, "phone")).toMatchObject({ code: "bad-request" });
    }
    expect(await rig.workspace.answer(rig.tab, { askId, verdict: "once" }, "x")).toMatchObject({ code: "bad-request" });
    expect([stateOf(rig), record(rig).options.moneyMax]).toEqual(["waiting", 1.5]);
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "raise", raiseTo: 9 }, "phone")).toBeNull();
    await rig.until("the turn ended", idle(rig));
    expect([record(rig).options.moneyMax, costOf(rig).price]).toEqual([9, 3]);
    expect((await limitRows(rig)).at(-1)).toEqual({
      ...{ kind: "limit", state: "answered", askId, limit: "tab-money" },
      ...{ choice: "raise", raiseTo: 9, by: "phone" },
    });
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "stop" }, "x")).toMatchObject({
      code: "already-answered",
    });
  });

  test("[TAB-102] goes on as it is told to, and its tab's limit stays", async () => {
    await using rig = await priced({ script: threeSteps });
    await options(rig, { moneyMax: 1.5 });
    await send(rig, "m1", "go");
    await endCall(rig, "c1");
    await endCall(rig, "c2");
    const askId = await question(rig);
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "go-on" }, "x")).toBeNull();
    await rig.until("the turn ended", idle(rig));
    expect([await ends(rig), record(rig).options.moneyMax]).toEqual([["done"], 1.5]);
  });

  test("[TAB-102] stops as it is told to; nothing is lost and what waits is held", async () => {
    await using rig = await priced({ script: threeSteps });
    await options(rig, { moneyMax: 1.5 });
    await send(rig, "m1", "go");
    await endCall(rig, "c1");
    await endCall(rig, "c2");
    const askId = await question(rig);
    await send(rig, "q1", "later", "queue");
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "stop" }, "x")).toBeNull();
    await rig.until("the turn ended", idle(rig));
    expect([await ends(rig), await queueOf(rig)]).toEqual([["stopped"], ["q1:held:later"]]);
    expect((await rig.rows()).filter((row) => row.type === "tool_result")).toHaveLength(2);
    expect(rig.provider.calls).toHaveLength(2);
  });

  test("[TAB-102] of its steps is answered with whole steps", async () => {
    await using rig = await priced({ script: threeSteps });
    await options(rig, { stepsMax: 2 });
    await send(rig, "m1", "go");
    await endCall(rig, "c1");
    await endCall(rig, "c2");
    const askId = await question(rig);
    for (const raiseTo of [1, 2, 2.5]) {
      expect(await rig.workspace.answer(rig.tab, { askId, choice: "raise", raiseTo }, "x")).toMatchObject({
        code: "bad-request",
      });
    }
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "raise", raiseTo: 3 }, "x")).toBeNull();
    await rig.until("the turn ended", idle(rig));
    expect([await ends(rig), record(rig).options.stepsMax]).toEqual([["done"], 3]);
  });

  test("[TAB-102] of the day counts all tabs, and raising it raises the server's", async () => {
    await using rig = await priced({ script: [says("other", 2), says("mine")] });
    const other = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test" });
    if (isFault(other)) throw new Error(other.message);
    await rig.workspace.send(other.id, { id: rig.id("o1"), text: "go" }, "test");
    await rig.until("the other ended", () => record(rig, other.id).cost.price === 2);
    rig.limits.dayMoneyMax = 2;
    await send(rig, "m1", "go");
    const askId = await question(rig);
    expect((await limitRows(rig))[0]).toMatchObject({ limit: "day-money", used: 2, max: 2 });
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "raise", raiseTo: 4 }, "x")).toBeNull();
    await rig.until("the turn ended", idle(rig));
    expect([rig.limits.dayMoneyMax, await texts(rig)]).toEqual([4, ["user:go", "assistant:mine"]]);
  });

  test("[TAB-102] waits across a restart, and the answer goes on with it", async () => {
    await using rig = await priced({ script: threeSteps });
    await options(rig, { moneyMax: 1.5 });
    await send(rig, "m1", "go");
    await endCall(rig, "c1");
    await endCall(rig, "c2");
    const askId = await question(rig);
    await using again = await rig.restarted();
    expect(await question(again)).toBe(askId);
    expect(record(again).options.moneyMax).toBe(1.5);
    expect(await again.workspace.answer(again.tab, { askId, choice: "raise", raiseTo: 5 }, "x")).toBeNull();
    await again.until("the turn ended", idle(again));
    expect([await ends(again), costOf(again).price]).toEqual([["done"], 3]);
  });

  test("[TAB-102] whose price is not known says so once, and there is nothing to raise", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("done")] });
    await options(rig, { moneyMax: 1 });
    await send(rig, "m1", "go");
    const askId = await question(rig);
    expect((await limitRows(rig))[0]).toMatchObject({ limit: "price-unknown", max: 1 });
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "raise", raiseTo: 100 }, "x")).toMatchObject({
      code: "bad-request",
    });
    expect(await rig.workspace.answer(rig.tab, { askId, choice: "go-on" }, "x")).toBeNull();
    await toolRuns(rig);
    await endCall(rig, "c1");
    await rig.until("the turn ended", idle(rig));
    expect((await limitRows(rig)).map(({ state }) => state)).toEqual(["asked", "answered"]);
  });
});

describe("children", () => {
  test("[TAB-103] a child's turn waits at its parent's limit, and raising it raises the parent's", async () => {
    await using first = await priced({ script: [says("one"), works("c1"), says("done")] });
    await answered(first, "m1", "hi");
    const parent = first.tab;
    const child = "child" as TabId;
    const { cwd, model, effort, permissions } = record(first);
    const place = { id: child, parentId: parent, logId: "child-log" as TabRecord["logId"], createdAt: 0 };
    await first.log.createTab({ ...place, title: "Child", cwd, model, effort, permissions, options: {} });
    await using rig = await first.restarted();
    await options(rig, { moneyMax: 2 }, parent);
    await rig.workspace.send(child, { id: rig.id("k1"), text: "go" }, "test");
    await endCall(rig, "c1");
    await rig.until("the child asks", () => record(rig, child).state === "waiting");
    expect([costOf(rig, parent).price, costOf(rig, child).price]).toEqual([1, 1]);
    const head = await rig.workspace.head(child);
    const askId = isFault(head) ? undefined : head.status.waits[0]?.askId;
    if (askId === undefined) throw new Error("no question");
    expect(await rig.workspace.answer(child, { askId, choice: "raise", raiseTo: 6 }, "x")).toBeNull();
    await rig.until("the child ended", () => record(rig, child).state === "idle");
    expect([record(rig, parent).options, record(rig, child).options]).toEqual([{ moneyMax: 6 }, {}]);
    const ledger = await rig.workspace.ledger(parent, {});
    if (isFault(ledger)) throw new Error(ledger.message);
    expect([ledger.own.price, ledger.whole.price]).toEqual([1, 3]);
    expect(ledger.children.map(({ tab, title, sum }) => [tab, title, sum.price])).toEqual([[child, "Child", 2]]);
    await rig.workspace.remove(child);
    expect(await rig.workspace.remove(child)).toBeNull();
    await using again = await rig.restarted();
    for (const { workspace } of [rig, again]) {
      const after = await workspace.ledger(parent, {});
      if (isFault(after)) throw new Error(after.message);
      expect([after.own.price, after.whole.price]).toEqual([1, 3]);
      expect(after.children.map(({ tab, title }) => [tab, title])).toEqual([[child, "(deleted)"]]);
    }
  });
});

describe("a purged parent", () => {
  test("[TAB-103] leaves its children on their own, and says so at once", async () => {
    await using first = await priced({});
    const { cwd, model, effort, permissions } = record(first);
    const place = { id: "child" as TabId, parentId: first.tab, logId: "child-log" as TabRecord["logId"], createdAt: 0 };
    await first.log.createTab({ ...place, title: "Child", cwd, model, effort, permissions, options: {} });
    await using rig = await first.restarted();
    expect(record(rig, place.id).parentId).toBe(first.tab);
    await rig.workspace.remove(first.tab);
    await rig.workspace.remove(first.tab);
    expect(record(rig, place.id).parentId).toBeNull();
  });
});

describe("options", () => {
  test("[TAB-104] are made with the tab, changed one by one, taken back, and there after a restart", async () => {
    await using rig = await makeRig();
    const made = await rig.workspace.create({
      cwd: "/project",
      model: "anthropic/claude-test",
      options: { cacheTtl: "1h", stepsMax: 7 },
    });
    if (isFault(made)) throw new Error(made.message);
    expect(made.options).toEqual({ cacheTtl: "1h", stepsMax: 7 });
    const patched = await options(rig, { stepsMax: null, moneyMax: 3 }, made.id);
    expect(isFault(patched) ? patched : patched.options).toEqual({ cacheTtl: "1h", moneyMax: 3 });
    await using again = await rig.restarted();
    expect(record(again, made.id).options).toEqual({ cacheTtl: "1h", moneyMax: 3 });
  });

  test("[TAB-104] that are changed at the same time are all kept", async () => {
    await using rig = await makeRig();
    const autoCompact = { on: false, share: 0.5 };
    await Promise.all([
      options(rig, { moneyMax: 3 }),
      options(rig, { stepsMax: 5 }),
      rig.workspace.patch(rig.tab, { title: "other" }),
      options(rig, { autoCompact }),
    ]);
    expect(record(rig).options).toEqual({ moneyMax: 3, stepsMax: 5, autoCompact });
  });

  test("[TAB-104] go with a fork, but for what spends money by itself", async () => {
    await using rig = await priced({ script: [says("one")] });
    await answered(rig, "m1", "hi");
    await options(rig, { moneyMax: 3, keepWarm: { on: true, countMax: 5, moneyMax: 1 } });
    const fork = await rig.workspace.fork(rig.tab, record(rig).tail);
    expect(isFault(fork) ? fork : fork.options).toEqual({ moneyMax: 3 });
  });
});
