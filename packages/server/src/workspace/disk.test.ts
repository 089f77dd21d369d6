import { FaultError, type Log, memoryLog } from "@varve/log";
import { fault, isFault } from "@varve/protocol";
import { failAt, failWhen, faultyLog } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ends, idle, question, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const full = fault("disk-full", "The disk is full.");

/** The next commit is written, and its answer is lost. */
function losing(): { readonly log: Log; loseNext(): void } {
  const lost = { next: false };
  const plan = failWhen(() => {
    const now = lost.next;
    lost.next = false;
    return now;
  });
  return {
    log: faultyLog(memoryLog(), plan, { failure: "answer-lost" }),
    loseNext: () => {
      lost.next = true;
    },
  };
}

/** A log some of whose other methods answer or reject as the test says. */
function withMethods(log: Log, methods: Partial<Log>): Log {
  return new Proxy(log, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const dense = async (rig: Rig): Promise<void> => {
  const rows = await rig.rows();
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, at) => at + 1));
};

describe("a commit whose answer was lost", () => {
  test("[TAB-11] the message that began a turn is answered when it is sent again", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [says("one")], log });
    const follower = await Follower.on(rig);
    loseNext();
    expect(await send(rig, "m1", "go")).toMatchObject({ code: "disk-full" });
    expect(await send(rig, "m1", "go")).toMatchObject({ id: "m1", state: "sealed" });
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:one") && idle(rig)());
    expect(await texts(rig)).toEqual(["user:go", "assistant:one"]);
    await rig.until("the follower has it", () => follower.texts().length === 2);
  });

  test("[TAB-11] and by itself when nobody sends it again", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [says("one")], log });
    loseNext();
    expect(await send(rig, "m1", "go")).toMatchObject({ code: "disk-full" });
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:one") && idle(rig)());
    expect(await ends(rig)).toEqual(["done"]);
  });

  test("[TAB-11] a message that was removed by it goes from every page, though nobody asks again", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1")], log });
    await send(rig, "m0", "first");
    await toolRuns(rig);
    await send(rig, "q1", "one", "queue");
    await rig.workspace.stop(rig.tab, {});
    await rig.until("stopped", idle(rig));
    const follower = await Follower.on(rig);
    expect([...follower.state.queue.keys()]).toEqual(["q1"]);
    loseNext();
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("q1"))).toMatchObject({ code: "disk-full" });
    await rig.until("the follower is told", () => follower.state.queue.size === 0);
  });

  test("[TAB-11] a message that waits by it is held with the others when the turn is stopped", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1")], log });
    await send(rig, "m0", "first");
    await toolRuns(rig);
    await send(rig, "q1", "one", "queue");
    loseNext();
    expect(await send(rig, "q2", "two", "queue")).toMatchObject({ code: "disk-full" });
    await rig.workspace.stop(rig.tab, {});
    await rig.until("stopped", idle(rig));
    expect(await queueOf(rig)).toEqual(["q1:held:one", "q2:held:two"]);
    expect(await ends(rig)).toEqual(["stopped"]);
  });

  test("[TAB-11] a message that brings a stop brings it when it is sent again, and only to the turn that it names", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")], log });
    await send(rig, "m0", "first");
    await toolRuns(rig);
    const head = await rig.workspace.head(rig.tab);
    const turnId = isFault(head) ? null : head.status.turnId;
    if (turnId === null) throw new Error("a turn is open");
    const message = { id: rig.id("s"), text: "urgent", delivery: "stop", turnId } as const;
    loseNext();
    expect(await rig.workspace.send(rig.tab, message, "test")).toMatchObject({ code: "disk-full" });
    const another = { ...message, turnId: `${turnId}x` as typeof turnId };
    expect(await rig.workspace.send(rig.tab, another, "test")).toMatchObject({ state: "queued" });
    expect(rig.works.size).toBe(1);
    expect(await rig.workspace.send(rig.tab, message, "test")).toMatchObject({ state: "queued" });
    await rig.until("it is answered", async () => (await texts(rig)).includes("assistant:urgent done") && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
  });

  test("[TAB-11] another message behind it finds the tab as it is, and every client has both", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1"), says("one"), says("two")], log });
    const follower = await Follower.on(rig);
    await send(rig, "m0", "first");
    await toolRuns(rig);
    loseNext();
    expect(await send(rig, "q1", "lost", "queue")).toMatchObject({ code: "disk-full" });
    expect(await send(rig, "q2", "behind", "queue")).toMatchObject({ state: "queued" });
    expect(await queueOf(rig)).toEqual(["q1:queued:lost", "q2:queued:behind"]);
    expect(await send(rig, "q1", "lost", "queue")).toMatchObject({ state: "queued" });
    await rig.until("the follower has both", () => follower.state.queue.size === 2);
    await dense(rig);
  });

  test("[TAB-11] a change to stop-and-send stops the turn, though its answer was lost", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")], log });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "urgent", "queue");
    loseNext();
    const change = { version: 1, delivery: "stop" } as const;
    expect(await rig.workspace.patchQueued(rig.tab, rig.id("q1"), change)).toMatchObject({ code: "disk-full" });
    await rig.until("it is answered", async () => (await texts(rig)).includes("assistant:urgent done") && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
  });

  test("[TAB-11] another message to a tab at rest waits for the turn that was begun", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [says("one"), says("two")], log });
    loseNext();
    expect(await send(rig, "m1", "go")).toMatchObject({ code: "disk-full" });
    expect(await send(rig, "m2", "more")).toMatchObject({ state: "queued" });
    await rig.until("all is answered", async () => (await ends(rig)).length === 2 && idle(rig)());
    expect(await texts(rig)).toEqual(["user:go", "assistant:one", "user:more", "assistant:two"]);
    await dense(rig);
  });

  test("[TAB-11] the loop does not write anew what another act has found written", async () => {
    await using rig = await makeRig({
      script: [works("c1"), says("one")],
      log: faultyLog(memoryLog(), failAt(2), { failure: "answer-lost" }),
    });
    await send(rig, "m1", "go");
    await rig.until("the loop has lost an answer", () => stateOf(rig) === "running");
    expect(await send(rig, "q1", "more", "queue")).toMatchObject({ state: "queued" });
    await toolRuns(rig);
    rig.works.get("c1")?.end("done");
    await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:one"));
    await dense(rig);
  });

  test("[TAB-11] a person's answer goes on with the turn all the same", async () => {
    const { log, loseNext } = losing();
    await using rig = await makeRig({ script: [works("c1"), says("ok")], permissions: "ask", log });
    await send(rig, "m1", "go");
    const askId = await question(rig);
    loseNext();
    const answer = { askId, verdict: "once" } as const;
    expect(await rig.workspace.answer(rig.tab, answer, "x")).toMatchObject({ code: "disk-full" });
    await toolRuns(rig);
    expect(await rig.workspace.answer(rig.tab, answer, "x")).toMatchObject({ code: "already-answered" });
  });

  test("[TAB-11] while it cannot be looked for, nothing is decided; a read that rejects is a fault", async () => {
    const { log: losingLog, loseNext } = losing();
    let fails = false;
    const message: Log["message"] = async (id) => {
      if (fails) throw new FaultError(full);
      return losingLog.message(id);
    };
    await using rig = await makeRig({ script: [works("c1")], log: withMethods(losingLog, { message }) });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    loseNext();
    expect(await send(rig, "q1", "one", "queue")).toMatchObject({ code: "disk-full" });
    fails = true;
    expect(await send(rig, "q2", "two", "queue")).toMatchObject({ code: "disk-full" });
    fails = false;
    expect(await send(rig, "q2", "two", "queue")).toMatchObject({ state: "queued" });
    expect(await queueOf(rig)).toEqual(["q1:queued:one", "q2:queued:two"]);
  });
});

describe("a disk that fails between two writes", () => {
  test("[TAB-11] a turn that ended while the next one cannot begin says why the next one waits", async () => {
    const disk = { full: false };
    const inner = memoryLog();
    const log = withMethods(inner, {
      commit: async (fence, batch) => {
        const outcome = disk.full ? ({ kind: "failed", fault: full } as const) : await inner.commit(fence, batch);
        if (batch.rows.some((row) => row.type === "system" && row.data.kind === "turn-end")) disk.full = true;
        return outcome;
      },
    });
    await using rig = await makeRig({ script: [works("c1"), says("one"), says("two")], log });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "next", "queue");
    rig.works.get("c1")?.end("done");
    await rig.until("the turn ended", async () => (await ends(rig)).length === 1 && stateOf(rig) === "idle");
    const head = await rig.workspace.head(rig.tab);
    expect(isFault(head) ? head : head.status.fault).toMatchObject({ code: "disk-full" });
    disk.full = false;
    await rig.until("it was sent", async () => (await texts(rig)).includes("assistant:two"));
  });

  test("[TAB-12] a tab that was pointed elsewhere goes on there, whatever the disk does next", async () => {
    const inner = memoryLog();
    let claims = 0;
    const claim: Log["claim"] = async (...args) => (++claims === 1 ? inner.claim(...args) : full);
    await using rig = await makeRig({ script: [says("one"), says("two")], log: withMethods(inner, { claim }) });
    await send(rig, "m1", "go");
    await rig.until("answered", idle(rig));
    await rig.workspace.clear(rig.tab);
    expect(await send(rig, "m2", "again")).toMatchObject({ state: "sealed" });
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:two") && idle(rig)());
  });
});

describe("one tab's damage", () => {
  test("[TAB-16] keeps no other tab from its recovery", async () => {
    const inner = memoryLog();
    await using rig = await makeRig({ script: [works("c1"), works("c2")], log: inner });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    const other = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test", permissions: "allow" });
    if (isFault(other)) throw new Error(other.message);
    await rig.workspace.send(other.id, { id: rig.id("m2"), text: "go" }, "test");
    await rig.until("both run", () => rig.works.size === 2);
    const record = rig.workspace.get(rig.tab);
    const broken = isFault(record) ? null : record.logId;
    const page: Log["page"] = async (query) => {
      const found = await inner.page(query);
      return query.logId === broken && !isFault(found) ? { ...found, rows: found.rows.slice(1) } : found;
    };
    await using again = await rig.restarted({ log: withMethods(inner, { page }) });
    expect(again.workspace.counters()).toMatchObject({ recovered: 1 });
    const recovered = await inner.page({ logId: other.logId, after: 0, limit: 500 });
    const last = isFault(recovered) ? undefined : recovered.rows.at(-1);
    expect(last?.data).toMatchObject({ kind: "turn-end", reason: "restart" });
  });
});
