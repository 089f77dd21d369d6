import { memoryLog } from "@varve/log";
import { isFault, type QueuedMessage } from "@varve/protocol";
import { failWhen, faultyLog } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const says = (text: string) => ({ blocks: [{ type: "text" as const, text }] });
const works = (id: string) => ({ blocks: [{ type: "tool_use" as const, id, name: "work", input: {} }] });
const idle = (rig: Rig) => (): boolean => {
  const record = rig.workspace.get(rig.tab);
  return !isFault(record) && record.state === "idle";
};
const send = (rig: Rig, id: string, text: string, delivery?: "steer" | "queue" | "stop") =>
  rig.workspace.send(rig.tab, { id: rig.id(id), text, ...(delivery && { delivery }) }, "test");
const queueOf = async (rig: Rig) => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? [] : head.queue.map(({ id, state, text }) => `${id}:${state}:${text}`);
};
const texts = async (rig: Rig): Promise<string[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "text" ? [`${row.role}:${row.data.text}`] : []));
const ends = async (rig: Rig): Promise<string[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));

describe("sending", () => {
  test("[TAB-1] a message to an idle tab is sealed at once, behind the frozen prefix, and answered", async () => {
    await using rig = await makeRig({ script: [says("hello")] });
    const follower = await Follower.on(rig);
    expect(await send(rig, "m1", "hi")).toMatchObject({ id: "m1", state: "sealed" });
    await rig.until("the turn ended", idle(rig));
    await rig.until("the follower has it", () => follower.texts().includes("assistant:hello"));
    expect(await texts(rig)).toEqual(["user:hi", "assistant:hello"]);
    expect(await ends(rig)).toEqual(["done"]);
    const kinds = (await rig.rows()).map((row) => (row.type === "system" ? row.data.kind : row.type));
    expect(kinds.indexOf("prefix")).toBe(0);
    const ops = follower.frames.flatMap((frame) => (frame.type === "ops" ? frame.ops : []));
    expect(ops.some((op) => op.op === "message-queued")).toBe(false);
  });

  test("[TAB-2] H15: of two sends at once one begins the turn, the other waits; both are answered, never two requests", async () => {
    for (let round = 0; round < 10; round++) {
      await using rig = await makeRig({ script: [says("one"), says("two")] });
      const outcomes = await Promise.all([send(rig, "a", "A"), send(rig, "b", "B")]);
      expect(outcomes.map((outcome) => (isFault(outcome) ? outcome.code : outcome.state)).toSorted()).toEqual([
        "queued",
        "sealed",
      ]);
      await rig.until("both are answered", async () => (await ends(rig)).length === 2 && idle(rig)());
      expect(rig.provider.calls.map((call) => call.openAtStart)).toEqual([0, 0]);
      expect((await texts(rig)).filter((text) => text.startsWith("user:"))).toHaveLength(2);
    }
  });

  test("[TAB-3] an id is accepted once: again it is answered with its state, in another tab refused", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await send(rig, "m", "hi");
    await rig.until("the turn ended", idle(rig));
    expect(await send(rig, "m", "hi")).toMatchObject({ id: "m", state: "sealed" });
    const other = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test" });
    if (isFault(other)) throw new Error(other.message);
    expect(await rig.workspace.send(other.id, { id: rig.id("m"), text: "hi" }, "test")).toMatchObject({
      code: "id-taken",
    });
    expect(rig.provider.calls).toHaveLength(1);
    expect((await texts(rig)).filter((text) => text === "user:hi")).toHaveLength(1);
  });

  test("[TAB-3] H10: neither ids nor clocks order anything: each message is answered once, in the order of its sending", async () => {
    const ids = ["m5", "zzzz-last", "0000-first", "a3", "a1", "a2"];
    await using rig = await makeRig({ script: ids.map((id) => says(`to ${id}`)) });
    for (const [at, id] of ids.entries()) {
      // Ten minutes ahead, ten behind, then three within one millisecond.
      if (at < 3) rig.clock.jump(at === 0 ? 600_000 : -600_000);
      await send(rig, id, `from ${id}`);
      await rig.until("it was answered", async () => (await ends(rig)).length === at + 1 && idle(rig)());
      expect(rig.provider.calls).toHaveLength(at + 1);
    }
    expect(await texts(rig)).toEqual(ids.flatMap((id) => [`user:from ${id}`, `assistant:to ${id}`]));
  });

  test("[TAB-3] a waiting message that is sent again waits once", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("done")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    expect(await send(rig, "m2", "more")).toMatchObject({ state: "queued", version: 1 });
    expect(await send(rig, "m2", "more")).toMatchObject({ state: "queued", version: 1 });
    expect(await queueOf(rig)).toEqual(["m2:queued:more"]);
  });

  test.each([
    ["empty", "   ", "bad-request"],
    ["too long", "x".repeat(300_000), "message-too-large"],
  ])("[TAB-1] a message that is %s is refused and nothing is written", async (_, text, code) => {
    await using rig = await makeRig();
    expect(await send(rig, "m", text)).toMatchObject({ code });
    expect(await rig.rows()).toEqual([]);
  });
});

describe("deliveries", () => {
  test("[TAB-4] a steer joins behind the step's results, a queued message begins the next turn", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("steered"), says("next")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q", "later", "queue");
    await send(rig, "s", "now");
    rig.works.get("c1")?.end("result");
    await rig.until("all is answered", async () => (await ends(rig)).length === 2 && idle(rig)());
    expect(await texts(rig)).toEqual(["user:go", "user:now", "assistant:steered", "user:later", "assistant:next"]);
    const rows = await rig.rows();
    const result = rows.find((row) => row.type === "tool_result");
    const steer = rows.find((row) => row.id === "s");
    expect(steer?.seq).toBeGreaterThan(result?.seq ?? Number.POSITIVE_INFINITY);
    expect(steer?.turnId).toBe(result?.turnId);
  });

  test("[TAB-5] H12: after a stop everything that waits is held; a release sends it under its own id", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("one"), says("two")] });
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q1", "one?", "queue");
    await send(rig, "q2", "two?", "queue");
    expect(await rig.workspace.patchQueued(rig.tab, rig.id("q1"), { version: 1, text: "ONE?" })).toMatchObject({
      version: 2,
    });
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["stopped"]);
    expect(await queueOf(rig)).toEqual(["q1:held:ONE?", "q2:held:two?"]);
    await rig.until("the follower shows them held", () => heldIds(follower).length === 2);
    const result = (await rig.rows()).find((row) => row.type === "tool_result");
    expect(result?.data).toMatchObject({ callId: "c1", isError: true });
    await rig.workspace.patchQueued(rig.tab, rig.id("q1"), { version: versionOf(follower, "q1"), state: "queued" });
    await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:one") && idle(rig)());
    expect(await queueOf(rig)).toEqual(["q2:held:two?"]);
    expect((await rig.rows()).find((row) => row.id === "q1")?.data).toMatchObject({ text: "ONE?" });
    expect(await texts(rig)).not.toContain("user:two?");
  });

  test("[TAB-5] H12: a deadline holds them too", async () => {
    await using rig = await makeRig({ script: [works("c1")], turnDeadlineMs: 50 });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q1", "one", "queue");
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["deadline"]);
    expect(await queueOf(rig)).toEqual(["q1:held:one"]);
  });

  test("[TAB-5] H12: stop and send begins the next turn at once; the others stay held", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q1", "one", "queue");
    expect(await send(rig, "s", "urgent", "stop")).toMatchObject({ state: "queued" });
    await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:urgent done") && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
    expect(await queueOf(rig)).toEqual(["q1:held:one"]);
  });

  test("[TAB-5] H15: a message sent right after a stop follows the stopped turn", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("answered")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    const [, sent] = await Promise.all([rig.workspace.stop(rig.tab, {}), send(rig, "m2", "then this")]);
    expect(isFault(sent)).toBe(false);
    await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:answered") && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
    expect(await queueOf(rig)).toEqual([]);
  });

  test("[TAB-6] a stop that names another turn hits nothing", async () => {
    await using rig = await makeRig({ script: [says("one"), works("c1"), says("two")] });
    await send(rig, "m1", "go");
    await rig.until("the first turn ended", idle(rig));
    const first = (await rig.rows()).find((row) => row.id === "m1")?.turnId;
    await send(rig, "m2", "again");
    await rig.until("the tool runs", () => rig.works.size === 1);
    expect(await rig.workspace.stop(rig.tab, first === undefined ? {} : { turnId: first })).toEqual({ stopped: false });
    rig.works.get("c1")?.end("fine");
    await rig.until("the second turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["done", "done"]);
  });

  test("[TAB-6] stopping one call leaves the turn running", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("went on")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await rig.workspace.stop(rig.tab, { callId: "c1" });
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["done"]);
    expect(await texts(rig)).toEqual(["user:go", "assistant:went on"]);
  });
});

describe("the queue", () => {
  async function twoQueued(): Promise<Rig> {
    const rig = await makeRig({ script: [works("c1")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q1", "one", "queue");
    await send(rig, "q2", "two", "queue");
    return rig;
  }

  test("[TAB-7] a change on a stale version is refused with the record as it is", async () => {
    await using rig = await twoQueued();
    await rig.workspace.patchQueued(rig.tab, rig.id("q1"), { version: 1, text: "ONE" });
    const stale = await rig.workspace.patchQueued(rig.tab, rig.id("q1"), { version: 1, text: "other" });
    expect(stale).toMatchObject({ code: "stale-version", current: { version: 2, data: { text: "ONE" } } });
    expect(await queueOf(rig)).toEqual(["q1:queued:ONE", "q2:queued:two"]);
  });

  test("[TAB-7] a message can be put before another one, or behind all", async () => {
    await using rig = await twoQueued();
    await rig.workspace.patchQueued(rig.tab, rig.id("q2"), { version: 1, before: rig.id("q1") });
    expect(await queueOf(rig)).toEqual(["q2:queued:two", "q1:queued:one"]);
    await rig.workspace.patchQueued(rig.tab, rig.id("q2"), { version: 2, before: null });
    expect(await queueOf(rig)).toEqual(["q1:queued:one", "q2:queued:two"]);
  });

  test("[TAB-7] a removed message is dropped on every client; a lost race says sealed", async () => {
    await using rig = await twoQueued();
    const followers = [await Follower.on(rig), await Follower.on(rig)];
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("q1"))).toEqual({ id: "q1", state: "dropped" });
    await rig.until("both know", () => followers.every((follower) => !follower.state.queue.has(rig.id("q1"))));
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("m1"))).toEqual({ id: "m1", state: "sealed" });
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("nope"))).toMatchObject({ code: "unknown-message" });
  });
});

describe("questions", () => {
  const asksForWork = { script: [works("c1"), says("ok")], permissions: "ask" as const };
  const question = async (rig: Rig) => {
    await rig.until("it asks", async () => {
      const head = await rig.workspace.head(rig.tab);
      return !isFault(head) && head.status.state === "waiting";
    });
    const head = await rig.workspace.head(rig.tab);
    const wait = isFault(head) ? undefined : head.status.waits[0];
    if (wait === undefined) throw new Error("no question");
    return wait.askId;
  };

  test("[TAB-8] the first answer wins, from whichever client; a second one is told", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    const answers = await Promise.all([
      rig.workspace.answer(rig.tab, { askId, verdict: "once" }, "desk"),
      rig.workspace.answer(rig.tab, { askId, verdict: "deny" }, "phone"),
    ]);
    expect(answers).toMatchObject([null, { code: "already-answered" }]);
    await rig.until("the tool runs", () => rig.works.size === 1);
    rig.works.get("c1")?.end("done");
    await rig.until("the turn ended", idle(rig));
    expect(await rig.workspace.answer(rig.tab, { askId: rig.id("other"), verdict: "once" }, "desk")).toMatchObject({
      code: "unknown-question",
    });
  });

  test("[TAB-8] a denial with a reason becomes the call's error result and the turn goes on", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    await rig.workspace.answer(rig.tab, { askId, verdict: "deny", text: "use the other tool" }, "desk");
    await rig.until("the turn ended", idle(rig));
    const result = (await rig.rows()).find((row) => row.type === "tool_result");
    expect(result?.data).toMatchObject({ isError: true });
    expect(JSON.stringify(result?.data)).toContain("use the other tool");
    expect(await texts(rig)).toEqual(["user:go", "assistant:ok"]);
  });

  test("[TAB-8] a stop ends a turn that waits", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    await question(rig);
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["stopped"]);
    expect(rig.works.size).toBe(0);
  });

  test("[TAB-8] stopping a call whose question is open withdraws the question, and the turn goes on", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    await rig.workspace.stop(rig.tab, { callId: "c1" });
    await rig.until("the turn ended", idle(rig));
    expect(await texts(rig)).toEqual(["user:go", "assistant:ok"]);
    expect(await rig.workspace.answer(rig.tab, { askId, verdict: "once" }, "desk")).toMatchObject({
      code: "unknown-question",
    });
  });

  test("[TAB-9] a question survives a restart, and its answer goes on with the turn", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    await send(rig, "q", "wait for me", "queue");
    await using again = await rig.restarted();
    expect(await question(again)).toBe(askId);
    expect(await queueOf(again)).toEqual(["q:held:wait for me"]);
    expect(await again.workspace.answer(again.tab, { askId, verdict: "once" }, "phone")).toBeNull();
    await again.until("the tool runs", () => again.works.size === 1);
    again.works.get("c1")?.end("done");
    await again.until("the turn ended", async () => (await ends(again)).length === 1 && idle(again)());
    expect(await texts(again)).toEqual(["user:go", "assistant:ok"]);
    expect(await queueOf(again)).toEqual(["q:held:wait for me"]);
  });
});

describe("crash and disk", () => {
  test("[TAB-10] H14: after a crash the turn is ended with its missing result, and what waited is held", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("next")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await send(rig, "q1", "one", "queue");
    await using again = await rig.restarted();
    expect(idle(again)()).toBe(true);
    expect(await ends(again)).toEqual(["restart"]);
    expect(await queueOf(again)).toEqual(["q1:held:one"]);
    expect((await again.rows()).find((row) => row.type === "tool_result")?.data).toMatchObject({
      callId: "c1",
      isError: true,
    });
    expect(again.works.size).toBe(0);
    await send(again, "m2", "next");
    await again.until("it goes on", async () => (await texts(again)).includes("assistant:next") && idle(again)());
    expect((await again.rows()).map((row) => row.seq)).toEqual((await again.rows()).map((_, at) => at + 1));
  });

  test("[TAB-10] text that was open at a crash is sealed as partial under its own id", async () => {
    await using rig = await makeRig({ script: [{ blocks: [{ type: "text", text: "a long answer" }], chunkSize: 4 }] });
    const gate = rig.provider.gate();
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await gate.step(2);
    await rig.until("it streams", () => follower.openText() === "a long a".slice(0, 8));
    const openId = [...follower.state.open.keys()][0];
    await rig.clock.advance(50);
    await using again = await rig.restarted();
    const row = (await again.rows()).find((found) => found.id === openId);
    expect(row?.data).toMatchObject({ text: "a long a", partial: true });
    gate.release();
  });

  test("[TAB-11] a full disk is shown, loses nothing, and writing goes on when there is room", async () => {
    const disk = { full: false };
    const log = faultyLog(
      memoryLog(),
      failWhen(() => disk.full),
    );
    await using rig = await makeRig({ script: [{ blocks: [{ type: "text", text: "kept" }] }], log });
    const follower = await Follower.on(rig);
    const gate = rig.provider.gate();
    await send(rig, "m1", "go");
    await gate.started;
    disk.full = true;
    gate.release();
    await rig.until("the tab says so", () => follower.state.status.fault?.code === "disk-full");
    expect(await send(rig, "m2", "more")).toMatchObject({ code: "disk-full" });
    disk.full = false;
    await rig.until("the turn ended", idle(rig));
    expect(await texts(rig)).toEqual(["user:go", "assistant:kept"]);
    await rig.until("the fault is gone", () => follower.state.status.fault === undefined);
  });

  test("[TAB-11] a commit whose answer was lost is not written twice", async () => {
    const lost = { next: false };
    const plan = failWhen(() => {
      const now = lost.next;
      lost.next = false;
      return now;
    });
    const log = faultyLog(memoryLog(), plan, { failure: "answer-lost" });
    await using rig = await makeRig({ script: [works("c1"), says("ok")], log });
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    lost.next = true;
    rig.works.get("c1")?.end("result");
    await rig.until("the turn ended", idle(rig));
    await rig.until("the follower has it", () => follower.texts().includes("assistant:ok"));
    const rows = await rig.rows();
    expect(rows.filter((row) => row.type === "tool_result")).toHaveLength(1);
    expect([...follower.state.sealed.values()]).toHaveLength(rows.length);
  });
});

describe("following", () => {
  test("[HUB-9] H13: a client that comes in mid-stream has the open text from its first character", async () => {
    await using rig = await makeRig({
      script: [{ blocks: [{ type: "text", text: "0123456789".repeat(10) }], chunkSize: 10 }],
    });
    const gate = rig.provider.gate();
    const early = await Follower.on(rig);
    await send(rig, "m1", "go");
    await gate.step(5);
    await rig.until("half is there", () => early.openText().length === 50);
    const late = await Follower.on(rig);
    expect(late.openText()).toBe(early.openText());
    await gate.step(1);
    await rig.until("it goes on for both", () => late.openText().length === 60 && early.openText().length === 60);
    gate.release();
    await rig.until("the turn ended", idle(rig));
    await rig.until("both have all", () => [early, late].every((follower) => follower.texts().length === 2));
    expect(late.texts()).toEqual(early.texts());
  });

  test("[HUB-9] a client that was away gets only the rows that it lacks, and equals one that stayed", async () => {
    await using rig = await makeRig({ script: [says("one"), says("two")] });
    const [stayed, left] = [await Follower.on(rig), await Follower.on(rig)];
    await send(rig, "m1", "go");
    await rig.until("the first turn ended", () => idle(rig)() && left.texts().length === 2);
    left.detach();
    await send(rig, "m2", "again");
    await rig.until("the second turn ended", () => idle(rig)() && stayed.texts().length === 4);
    const before = left.frames.length;
    await left.attach(rig, rig.tab);
    const head = left.frames[before];
    expect(head).toMatchObject({ type: "head", mode: "append" });
    expect(left.texts()).toEqual(stayed.texts());
  });

  test("[HUB-9] rows of another term than the client's are given anew", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await send(rig, "m1", "go");
    await rig.until("the turn ended", idle(rig));
    const follower = await Follower.on(rig);
    const state = follower.state;
    const frames: unknown[] = [];
    const have = { log: state.logId ?? ("x" as never), term: 1, seq: 2 };
    const sink = { send: (frame: unknown) => void frames.push(frame), buffered: () => 0, closeSlow: () => undefined };
    await rig.workspace.subscribe({ tab: rig.tab, have, focus: true }, sink);
    expect(frames[0]).toMatchObject({ type: "head", mode: "reset" });
  });
});

describe("pointing elsewhere", () => {
  async function talked(): Promise<Rig> {
    const rig = await makeRig({ script: [says("one"), says("two"), says("three")] });
    await send(rig, "m1", "first");
    await rig.until("answered", idle(rig));
    await send(rig, "m2", "second");
    await rig.until("answered", idle(rig));
    return rig;
  }

  test("[TAB-12] clear begins a new log; the earlier one stays reachable and can be gone back to", async () => {
    await using rig = await talked();
    const follower = await Follower.on(rig);
    const before = rig.workspace.get(rig.tab);
    const cleared = await rig.workspace.clear(rig.tab);
    expect(cleared).toMatchObject({ tail: 0 });
    await rig.until("the follower sees it", () => follower.texts().length === 0);
    const logs = await rig.workspace.logs(rig.tab);
    expect(isFault(logs) ? [] : logs).toHaveLength(2);
    if (isFault(before)) throw new Error(before.message);
    await rig.workspace.pointTo(rig.tab, before.logId);
    await rig.until("it is back", () => follower.texts().length === 4);
  });

  test("[TAB-12] edit and resend cuts behind what came before, under a new log", async () => {
    await using rig = await talked();
    const seq = (await rig.rows()).find((row) => row.id === "m2")?.seq ?? 0;
    expect(await rig.workspace.resend(rig.tab, { seq, id: rig.id("m3"), text: "instead" }, "test")).toMatchObject({
      id: "m3",
      state: "sealed",
    });
    await rig.until("answered", async () => (await texts(rig)).length === 4 && idle(rig)());
    expect(await texts(rig)).toEqual(["user:first", "assistant:one", "user:instead", "assistant:three"]);
  });

  test("[TAB-12] a fork inside a step closes the open call and ends the turn; the parent is untouched", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("ok")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    const call = (await rig.rows()).find((row) => row.type === "tool_call");
    const fork = await rig.workspace.fork(rig.tab, call?.seq ?? 0);
    if (isFault(fork)) throw new Error(fork.message);
    const page = await rig.workspace.page(fork.id, {});
    const tail = isFault(page) ? [] : page.chunks.slice(-2);
    expect(tail.map((row) => (row.type === "system" ? row.data.kind : row.type))).toEqual(["tool_result", "turn-end"]);
    expect(tail.map((row) => row.seq)).toEqual([(call?.seq ?? 0) + 1, (call?.seq ?? 0) + 2]);
    rig.works.get("c1")?.end("fine");
    await rig.until("the parent ended", idle(rig));
    expect(await ends(rig)).toEqual(["done"]);
  });

  test("[TAB-12] none of it while a turn runs", async () => {
    await using rig = await makeRig({ script: [works("c1")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    const seq = (await rig.rows()).find((row) => row.id === "m1")?.seq ?? 0;
    expect(await rig.workspace.clear(rig.tab)).toMatchObject({ code: "tab-running" });
    expect(await rig.workspace.resend(rig.tab, { seq, id: rig.id("x"), text: "x" }, "t")).toMatchObject({
      code: "tab-running",
    });
  });
});

const heldIds = (follower: Follower): readonly string[] =>
  [...follower.state.queue.values()].flatMap((cell) => (cell.message.state === "held" ? [cell.id] : []));

const versionOf = (follower: Follower, id: string): number =>
  [...follower.state.queue.values()].find((cell): cell is typeof cell & { message: QueuedMessage } => cell.id === id)
    ?.message.version ?? 0;
