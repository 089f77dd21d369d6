import { type Log, memoryLog, verifyRows } from "@varve/log";
import { isFault } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ends, queueOf, says, send, stateOf, texts } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

const opus = "anthropic/claude-opus-5-5";
const long = "Words that fill a turn, one after another. ".repeat(40);
const summary: ScriptItem = {
  match: { lastUserText: "write a summary" },
  reply: { blocks: [{ type: "text", text: "SUM" }] },
  times: "always",
};

/** A log that tells of each commit, before and after it is done. */
function watched(): { readonly log: Log; onCommit: (when: "before" | "after") => Promise<void> } {
  const inner = memoryLog();
  const watch = {
    onCommit: async (_when: "before" | "after"): Promise<void> => undefined,
    log: new Proxy(inner, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (name !== "commit") return value.bind(target);
        return async (...args: unknown[]): Promise<unknown> => {
          await watch.onCommit("before");
          const outcome: unknown = await Reflect.apply(value, target, args);
          await watch.onCommit("after");
          return outcome;
        };
      },
    }),
  };
  return watch;
}

const atRest = (rig: Rig) => (): boolean => ["idle", "error"].includes(stateOf(rig));
const kinds = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).map(({ type, data }) => (type === "system" ? data.kind : type));

const acts = {
  stop: (rig: Rig) => rig.workspace.stop(rig.tab, {}),
  send: (rig: Rig, id: string) => send(rig, id, id),
  "stop and send": (rig: Rig, id: string) => send(rig, id, id, "stop"),
  wish: (rig: Rig) => rig.workspace.contexts.compact(rig.tab),
  kill: async () => undefined,
} as const;
type Act = keyof typeof acts;

/** What the tab's rows and messages must be, whatever happened while it was being summed up; then it goes on. */
async function checked(rig: Rig, act: Act, at: string): Promise<void> {
  await rig.until("it rests", atRest(rig));
  const head = await rig.workspace.head(rig.tab);
  if (isFault(head)) throw new Error(head.message);
  expect(head.queue).toEqual([]);
  if (act.includes("send")) {
    expect((await rig.rows()).filter(({ id }) => id === `late-${at}`)).toHaveLength(1);
  }
  await send(rig, `again-${at}`, `again-${at}`);
  await rig.until("it is answered", async () => {
    const all = await texts(rig);
    const asked = all.findIndex((text) => text.startsWith(`user:again-${at}`));
    return atRest(rig)() && asked >= 0 && all.at(-1)?.startsWith("assistant:") === true;
  });
  const rows = await rig.rows();
  expect(verifyRows(rows)).toEqual([]);
  const turns = new Set(rows.flatMap((row) => (row.turnId === "" ? [] : [row.turnId])));
  expect(await ends(rig)).toHaveLength(turns.size);
}

async function grown(options: Parameters<typeof makeRig>[0] = {}): Promise<Rig> {
  const script = [summary, ...Array.from({ length: 4 }, (_, n) => says(`answer ${n} ${long}${long}`))];
  const rig = await makeRig({ model: opus, script, ...options });
  for (const text of ["first", "second", "third"]) {
    await send(rig, text, text);
    await rig.until("it is idle", atRest(rig));
  }
  return rig;
}
const compactionsOf = async (rig: Rig): Promise<number> =>
  (await kinds(rig)).filter((kind) => kind === "compaction").length;

describe("a wish that comes while the last step of a turn is streamed", () => {
  async function wished(rig: Rig, end: (rig: Rig) => Promise<unknown>): Promise<void> {
    const gate = rig.provider.gate();
    await send(rig, "last", "last");
    await gate.started;
    expect(await rig.workspace.contexts.compact(rig.tab)).toEqual({ state: "asked" });
    await end(rig);
    gate.release();
    await rig.until("the turn ended", async () => (await ends(rig)).length > 3);
  }

  test("[CONTEXT-6] is granted when the turn has ended", async () => {
    await using rig = await grown();
    await wished(rig, async () => undefined);
    await rig.until("it is compacted", async () => atRest(rig)() && (await compactionsOf(rig)) === 1);
    expect((await ends(rig)).at(-1)).toBe("done");
  });

  test("[CONTEXT-6] or in the turn that a waiting message begins", async () => {
    await using rig = await grown({
      script: [summary, ...Array.from({ length: 5 }, (_, n) => says(`answer ${n} ${long}${long}`))],
    });
    await wished(rig, () => send(rig, "next", "next", "queue"));
    await rig.until(
      "it is answered",
      async () => atRest(rig)() && (await texts(rig)).at(-1)?.includes("answer 4") === true,
    );
    expect(await compactionsOf(rig)).toBe(1);
    expect(await ends(rig)).toHaveLength(5);
  });

  test("[CONTEXT-6] goes with the turn that a person stops", async () => {
    await using rig = await grown();
    await wished(rig, () => rig.workspace.stop(rig.tab, {}));
    await rig.until("it rests", atRest(rig));
    expect([(await ends(rig)).at(-1), await compactionsOf(rig)]).toEqual(["stopped", 0]);
  });

  test("[CONTEXT-6] with nothing to win a row says so", async () => {
    await using rig = await makeRig({ model: opus, script: [says("short")] });
    const gate = rig.provider.gate();
    await send(rig, "m1", "hi");
    await gate.started;
    expect(await rig.workspace.contexts.compact(rig.tab)).toEqual({ state: "asked" });
    gate.release();
    await rig.until("it rests", atRest(rig));
    await rig.until("it is said", async () => (await kinds(rig)).at(-1) === "notice");
    expect((await rig.rows()).at(-1)?.data).toMatchObject({ level: "info", code: "nothing-to-compact" });
  });
});

test("[CONTEXT-5] a fork, a resend, a clear and the way back each have the compactions of their own log", async () => {
  await using rig = await grown({
    script: [summary, ...Array.from({ length: 14 }, (_, n) => says(`answer ${n} ${long}${long}`))],
  });
  await rig.workspace.contexts.compact(rig.tab);
  await rig.until("it is compacted", async () => atRest(rig)() && (await compactionsOf(rig)) === 1);
  const rows = await rig.rows();
  const at = rows.findIndex(({ type, data }) => type === "system" && data.kind === "compaction") + 1;
  const body = async (tab: Rig["tab"], id: string): Promise<string> => {
    const sent = rig.provider.calls.length;
    const asked = { id: rig.id(id), text: `${id}?` };
    expect(await rig.workspace.send(tab, asked, "test")).toMatchObject({ state: "sealed" });
    const stateNow = (): string => {
      const record = rig.workspace.get(tab);
      return isFault(record) ? record.code : record.state;
    };
    await rig.until("it is answered", () => rig.provider.calls.length > sent && stateNow() === "idle");
    return JSON.stringify(rig.provider.calls.at(-1)?.body.messages);
  };
  const has = (text: string) => ({
    sum: text.includes("SUM"),
    first: text.includes("answer 0"),
    own: text.includes("first"),
  });
  const summed = { sum: true, first: false, own: true };
  const whole = { sum: false, first: true, own: true };
  const behind = await rig.workspace.fork(rig.tab, rows.length);
  const before = await rig.workspace.fork(rig.tab, at - 1);
  if (isFault(behind) || isFault(before)) throw new Error("a fork was refused");
  expect(has(await body(behind.id, "f1"))).toEqual(summed);
  expect(has(await body(before.id, "f2"))).toEqual(whole);
  const place = rows.find(({ id }) => id === "third")?.seq ?? 0;
  const record = rig.workspace.get(rig.tab);
  if (isFault(record)) throw new Error(record.message);
  const resent = await rig.workspace.resend(rig.tab, { seq: place, id: rig.id("again"), text: "other" }, "test");
  expect(resent).toMatchObject({ state: "sealed" });
  await rig.until("it is answered", atRest(rig));
  expect(has(await body(rig.tab, "r1"))).toEqual(whole);
  expect(await rig.workspace.contexts.undoCompaction(rig.tab, at)).toMatchObject({ code: "nothing-to-compact" });
  await rig.workspace.pointTo(rig.tab, record.logId);
  expect(has(await body(rig.tab, "p1"))).toEqual(summed);
  await rig.workspace.clear(rig.tab);
  expect(has(await body(rig.tab, "n1"))).toEqual({ sum: false, first: false, own: false });
  await rig.workspace.pointTo(rig.tab, record.logId);
  expect(isFault(await rig.workspace.contexts.undoCompaction(rig.tab, at))).toBe(false);
  expect(has(await body(rig.tab, "p2"))).toEqual(whole);
});

describe("a compaction between turns", () => {
  test("[CONTEXT-5] whose pictures cannot be read ends with an error, and the tab goes on", async () => {
    const inner = memoryLog();
    const broken = { get: (): Promise<never> => Promise.reject(new Error("the disk is gone")) };
    const disk = { isGone: false };
    const blobs = new Proxy(inner.blobs, {
      get(target, name) {
        const value: unknown = Reflect.get(disk.isGone && name === "get" ? broken : target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const log = new Proxy(inner, {
      get(target, name) {
        if (name === "blobs") return blobs;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await using rig = await grown({ log });
    const stored = await log.blobs.put(new Uint8Array([137, 80, 78, 71]), "image/png");
    if (isFault(stored)) throw new Error(stored.message);
    const attachments = [{ blob: stored.blob, mediaType: "image/png", name: "a.png", size: 4 }];
    await rig.workspace.send(rig.tab, { id: rig.id("picture"), text: "look", attachments }, "test");
    await rig.until("it is answered", async () => atRest(rig)() && (await ends(rig)).length === 4);
    disk.isGone = true;
    expect(await rig.workspace.contexts.compact(rig.tab)).toEqual({ state: "started" });
    await rig.until("it ended", () => stateOf(rig) === "error");
    expect((await rig.rows()).findLast(({ type }) => type === "error")?.data).toMatchObject({ code: "internal" });
    disk.isGone = false;
    expect(await rig.workspace.contexts.compact(rig.tab)).toEqual({ state: "started" });
    await rig.until("it is compacted", async () => (await compactionsOf(rig)) === 1 && stateOf(rig) === "idle");
  });

  test.each(["steer", "queue"] as const)(
    "[CONTEXT-5] that fails holds what waits as %s, visibly; one click sends it",
    async (delivery) => {
      const refused = { ...summary, reply: { fail: { kind: "status", status: 400 } as const } };
      const answers = Array.from({ length: 4 }, (_, n) => says(`answer ${n} ${long}${long}`));
      await using rig = await grown({ script: [refused, ...answers] });
      const gate = rig.provider.gate();
      expect(await rig.workspace.contexts.compact(rig.tab)).toEqual({ state: "started" });
      await gate.started;
      expect(await send(rig, "late", "late", delivery)).toMatchObject({ state: "queued" });
      gate.release();
      await rig.until("it failed", () => stateOf(rig) === "error");
      expect((await ends(rig)).at(-1)).toBe("error");
      expect(await queueOf(rig)).toEqual(["late:held:late"]);
      await rig.workspace.patchQueued(rig.tab, rig.id("late"), { version: 2, state: "queued" });
      await rig.until(
        "it is answered",
        async () => stateOf(rig) === "idle" && (await texts(rig)).includes("user:late"),
      );
      expect(await queueOf(rig)).toEqual([]);
    },
  );

  test("[CONTEXT-5] takes no longer than a turn may", async () => {
    await using rig = await grown({ turnDeadlineMs: 60_000 });
    const gate = rig.provider.gate();
    await rig.workspace.contexts.compact(rig.tab);
    await gate.started;
    await rig.clock.advance(60_000);
    await rig.until("it rests", atRest(rig));
    expect([(await ends(rig)).at(-1), await compactionsOf(rig)]).toEqual(["deadline", 0]);
  });

  test("[TAB-18] that is refused does not keep the rows in memory", async () => {
    await using rig = await makeRig({ model: opus, script: [says("one")] });
    await send(rig, "m1", "hi");
    await rig.until("it is idle", atRest(rig));
    const reads = { count: 0 };
    const page = rig.log.page.bind(rig.log);
    rig.log.page = (query) => {
      reads.count++;
      return page(query);
    };
    const refused = [
      () => rig.workspace.contexts.compact(rig.tab),
      () => rig.workspace.contexts.undoCompaction(rig.tab, 1),
    ];
    for (const act of refused) {
      await rig.clock.advance(61_000);
      const before = reads.count;
      expect(await act()).toMatchObject({ code: "nothing-to-compact" });
      await rig.clock.advance(61_000);
      const between = reads.count;
      expect(between).toBeGreaterThan(before);
      expect(await act()).toMatchObject({ code: "nothing-to-compact" });
      expect(reads.count).toBeGreaterThan(between);
    }
  });
});

/** Commits of a compaction between turns: its request, its bill, its row, the end of its turn. */
const commits = [1, 2, 3, 4];

/** A process that died has either written a batch or not: nobody else reads in the middle of it. */
const whensOf = (act: Act) => (act === "stop" ? (["before", "after"] as const) : (["after"] as const));

async function sweep(act: Act): Promise<readonly string[]> {
  const watch = watched();
  const script = [summary, ...Array.from({ length: 30 }, (_, n) => says(`answer ${n} ${long}${long}`))];
  await using first = await makeRig({ model: opus, script, log: watch.log });
  let rig: Rig = first;
  for (const text of ["first", "second", "third"]) {
    await send(rig, text, text);
    await rig.until("it is idle", atRest(rig));
  }
  const seen: string[] = [];
  for (const when of whensOf(act)) {
    for (const point of commits) {
      const old = rig;
      const before = (await kinds(rig)).filter((kind) => kind === "compaction").length;
      const came = oneAct(watch, { point, when }, async () => {
        if (act === "kill") rig = await old.restarted({ log: watch.log });
        else void acts[act](old, `late-${when}-${point}`);
      });
      expect(await old.workspace.contexts.compact(old.tab)).toEqual({ state: "started" });
      await old.until("the point came", () => came.done);
      await checked(rig, act, `${when}-${point}`);
      const after = (await kinds(rig)).filter((kind) => kind === "compaction").length;
      seen.push(after > before ? "compacted" : "as it was");
      if (rig !== old && old !== first) await old[Symbol.asyncDispose]();
    }
  }
  if (rig !== first) await rig[Symbol.asyncDispose]();
  return seen;
}

/** Carries an act out at the commit with this number, counted from now. */
function oneAct(
  watch: ReturnType<typeof watched>,
  { point, when }: { readonly point: number; readonly when: "before" | "after" },
  act: () => Promise<void>,
): { readonly done: boolean } {
  let since = 0;
  const came = { done: false };
  let begun = false;
  watch.onCommit = async (now) => {
    if (now === "before") since += 1;
    if (begun || since !== point || now !== when) return;
    begun = true;
    await act();
    came.done = true;
  };
  return came;
}

describe("at every commit of a compaction between turns", () => {
  test.each(Object.keys(acts) as readonly Act[])(
    "[CONTEXT-5] %s: the tab comes to rest, each message is there once, each turn has ended",
    async (act) => {
      const seen = await sweep(act);
      expect(seen).toHaveLength(whensOf(act).length * commits.length);
      // Before its row is written nothing is changed by a stop or a death; afterwards the row stands.
      if (act === "kill") expect(seen).toEqual(["as it was", "as it was", "compacted", "compacted"]);
      else if (!act.startsWith("stop")) expect(new Set(seen)).toEqual(new Set(["compacted"]));
    },
  );
});
