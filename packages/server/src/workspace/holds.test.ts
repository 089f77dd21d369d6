import { isFault, type TurnId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { ends, idle, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const shown = ({ state }: Follower): readonly string[] =>
  [...state.queue.values()]
    .map(({ message }) => message)
    .toSorted((a, b) => a.position - b.position)
    .map(({ id, state: at, data }) => `${id}:${at}:${data.text}`);
const versionOf = async (rig: Rig, id: string): Promise<number> => {
  const head = await rig.workspace.head(rig.tab);
  const found = isFault(head) ? undefined : head.queue.find((message) => message.id === id);
  if (found === undefined) throw new Error(`${id} does not wait`);
  return found.version;
};
const patch = async (rig: Rig, id: string, change: Readonly<Record<string, unknown>>) =>
  rig.workspace.patchQueued(rig.tab, rig.id(id), { version: await versionOf(rig, id), ...change });
const release = (rig: Rig, id: string) => patch(rig, id, { state: "queued" });
const turnOf = async (rig: Rig): Promise<TurnId> => {
  const head = await rig.workspace.head(rig.tab);
  if (isFault(head) || head.status.turnId === null) throw new Error("no turn is open");
  return head.status.turnId;
};
/** In no state is a message neither in the head's queue nor in the rows. */
async function nothingLost(rig: Rig, ids: readonly string[]): Promise<void> {
  const waiting = (await queueOf(rig)).map((word) => word.split(":")[0]);
  const sealed = (await rig.rows()).map((row) => String(row.id));
  for (const id of ids) expect([...waiting, ...sealed].filter((one) => one === id)).toEqual([id]);
}

/** A turn at work, two messages behind it, the first one edited and then opened for editing. */
async function atWork(options: { readonly turnDeadlineMs?: number } = {}): Promise<Rig> {
  const rig = await makeRig({ script: [works("c1"), says("to one"), says("to two")], ...options });
  await send(rig, "m1", "go");
  await toolRuns(rig);
  await send(rig, "q1", "one", "queue");
  await send(rig, "q2", "two", "queue");
  expect(await patch(rig, "q1", { text: "ONE" })).toMatchObject({ version: 2 });
  return rig;
}

/** How the turn ends, other than by itself; answers the rig that goes on. */
const badEnds: readonly (readonly [
  name: string,
  reason: string,
  options: { readonly turnDeadlineMs?: number },
  end: (rig: Rig) => Promise<Rig>,
])[] = [
  ["a stop", "stopped", {}, (rig) => rig.workspace.stop(rig.tab, {}).then(() => rig)],
  ["a deadline", "deadline", { turnDeadlineMs: 400 }, (rig) => rig.clock.advance(400).then(() => rig)],
  ["a restart", "restart", {}, (rig) => rig.restarted()],
];

describe("H12: what waits when a turn ends", () => {
  test.each(badEnds)(
    "[TAB-5] H12: after %s all is held and shown as held; one click each sends",
    async (_n, reason, options, end) => {
      await using first = await atWork(options);
      await patch(first, "q2", { state: "held" });
      await using rig = await end(first);
      const followers = [await Follower.on(rig), await Follower.on(rig)];
      await rig.until("the turn ended", async () => (await ends(rig)).length === 1 && idle(rig)());
      expect(await ends(rig)).toEqual([reason]);
      expect(await queueOf(rig)).toEqual(["q1:held:ONE", "q2:held:two"]);
      await rig.until("both clients show it", () =>
        followers.every((one) => shown(one).join() === "q1:held:ONE,q2:held:two"),
      );
      expect((await rig.rows()).find((row) => row.type === "tool_result")?.data).toMatchObject({ isError: true });
      expect(rig.provider.calls).toHaveLength(1);
      await nothingLost(rig, ["q1", "q2"]);
      expect(await release(rig, "q1")).toMatchObject({ state: "queued" });
      await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:to one") && idle(rig)());
      expect((await rig.rows()).find((row) => row.id === "q1")?.data).toMatchObject({ text: "ONE" });
      expect(await queueOf(rig)).toEqual(["q2:held:two"]);
      await nothingLost(rig, ["q1", "q2"]);
      await release(rig, "q2");
      await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:to two") && idle(rig)());
      expect(await texts(rig)).toEqual(["user:go", "user:ONE", "assistant:to one", "user:two", "assistant:to two"]);
      await rig.until("both clients are done", () => followers.every((one) => shown(one).length === 0));
    },
  );

  test("[TAB-5] H12: after a normal end the first is sent by itself, one that is held for editing stays", async () => {
    await using rig = await atWork();
    await patch(rig, "q2", { state: "held" });
    rig.works.get("c1")?.end("fine");
    await rig.until("all ended", async () => (await texts(rig)).includes("assistant:to two") && idle(rig)());
    expect(await ends(rig)).toEqual(["done", "done"]);
    expect(await texts(rig)).toEqual(["user:go", "assistant:to one", "user:ONE", "assistant:to two"]);
    expect(await queueOf(rig)).toEqual(["q2:held:two"]);
    await nothingLost(rig, ["q1", "q2"]);
  });

  test("[TAB-5] H12: one that was opened for editing when the turn was stopped is held like the rest", async () => {
    await using rig = await atWork();
    await patch(rig, "q1", { state: "held" });
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect(await queueOf(rig)).toEqual(["q1:held:ONE", "q2:held:two"]);
    await patch(rig, "q1", { text: "ONE!", state: "queued" });
    await rig.until("it was answered", async () => (await texts(rig)).includes("assistant:to one") && idle(rig)());
    expect(await texts(rig)).toContain("user:ONE!");
    expect(await queueOf(rig)).toEqual(["q2:held:two"]);
  });

  test("[TAB-5] H12: removed before it was sent, it is gone on both clients", async () => {
    await using rig = await atWork();
    const followers = [await Follower.on(rig), await Follower.on(rig)];
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("q1"))).toEqual({ id: "q1", state: "dropped" });
    await rig.until("both know", () => followers.every((one) => shown(one).join() === "q2:queued:two"));
    const drops = followers.map(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "ops" ? frame.ops : [])).filter(({ op }) => op === "message-dropped"),
    );
    expect(drops).toMatchObject([[{ id: "q1" }], [{ id: "q1" }]]);
  });
});

describe("a message that was meant to stop an earlier turn", () => {
  /** `s` was sent with a stop, and held before the turn had ended; another turn runs now. */
  async function anotherTurn(): Promise<Rig> {
    const rig = await makeRig({ script: [works("c1"), works("c2"), says("both"), says("later")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await Promise.all([
      send(rig, "s", "urgent", "stop"),
      rig.workspace.patchQueued(rig.tab, rig.id("s"), { version: 1, state: "held" }),
    ]);
    await rig.until("the turn ended", idle(rig));
    expect(await queueOf(rig)).toEqual(["s:held:urgent"]);
    await send(rig, "m2", "again");
    await rig.until("the next runs", () => rig.works.has("c2"));
    return rig;
  }

  test("[TAB-124] released, it joins the turn that runs now and stops nothing", async () => {
    await using rig = await anotherTurn();
    expect(await release(rig, "s")).toMatchObject({ state: "queued", delivery: "steer" });
    expect(rig.works.size).toBe(1);
    rig.works.get("c2")?.end("fine");
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["stopped", "done"]);
    expect((await texts(rig)).slice(-2)).toEqual(["user:urgent", "assistant:both"]);
  });

  test("[TAB-124] edited and released with the delivery that it has, it stops nothing either", async () => {
    await using rig = await anotherTurn();
    await patch(rig, "s", { text: "not so urgent", delivery: "stop", state: "queued" });
    expect(rig.works.size).toBe(1);
    rig.works.get("c2")?.end("fine");
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["stopped", "done"]);
  });

  test("[TAB-124] it stops the turn that it is told to, and no other", async () => {
    await using rig = await anotherTurn();
    const turnId = await turnOf(rig);
    await patch(rig, "s", { delivery: "stop", state: "queued", turnId: `${turnId}x` });
    expect(rig.works.size).toBe(1);
    await patch(rig, "s", { delivery: "stop", turnId });
    await rig.until("it is answered", async () => (await ends(rig)).length === 3 && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "stopped", "done"]);
    expect(await texts(rig)).toEqual(["user:go", "user:again", "user:urgent", "assistant:both"]);
  });

  test("[TAB-124] a message that becomes stop-and-send stops the turn that is open", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q", "urgent", "queue");
    await patch(rig, "q", { delivery: "stop" });
    await rig.until("it is answered", async () => (await ends(rig)).length === 2 && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
    expect(await queueOf(rig)).toEqual([]);
    expect(stateOf(rig)).toBe("idle");
  });
});

describe("a message from an agent", () => {
  const by = (rig: Rig) => `agent:${rig.tab}`;

  test("[TAB-125] to a busy tab waits as a steer and joins, to an idle one begins a turn, under the sender's name", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("heard"), says("and again")] });
    const child = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test", permissions: "allow" });
    if (isFault(child)) throw new Error(child.message);
    const told = (id: string, text: string) => rig.workspace.send(child.id, { id: rig.id(id), text }, by(rig));
    await rig.workspace.send(child.id, { id: rig.id("m1"), text: "go" }, "phone");
    await toolRuns(rig);
    expect(await told("a1", "news")).toMatchObject({ state: "queued" });
    expect(await told("a1", "news")).toMatchObject({ state: "queued" });
    const head = await rig.workspace.head(child.id);
    expect(isFault(head) ? head : head.queue).toMatchObject([{ id: "a1", delivery: "steer" }]);
    rig.works.get("c1")?.end("fine");
    const ended = () => rig.workspace.list().every(({ state }) => state === "idle");
    await rig.until("the turn ended", ended);
    expect(await told("a2", "more")).toMatchObject({ state: "sealed" });
    await rig.until("the next ended", ended);
    expect(await told("a2", "more")).toMatchObject({ state: "sealed" });
    const page = await rig.workspace.page(child.id, {});
    const rows = isFault(page) ? [] : page.chunks.filter((row) => row.type === "text");
    expect(rows.map((row) => [row.data.text, "by" in row ? row.by : undefined])).toEqual([
      ["go", "phone"],
      ["news", by(rig)],
      ["heard", undefined],
      ["more", by(rig)],
      ["and again", undefined],
    ]);
  });

  test("[TAB-125] waits under its name on every client, and is held, edited and removed like any other", async () => {
    await using rig = await makeRig({ script: [works("c1")] });
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await toolRuns(rig);
    for (const id of ["a1", "a2"]) await rig.workspace.send(rig.tab, { id: rig.id(id), text: id }, "agent:parent");
    await rig.until("it is shown", () => follower.state.queue.size === 2);
    expect([...follower.state.queue.values()].map(({ message }) => message.by)).toEqual([
      "agent:parent",
      "agent:parent",
    ]);
    expect(await patch(rig, "a1", { text: "edited" })).toMatchObject({ version: 2 });
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("a2"))).toMatchObject({ state: "dropped" });
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect(await queueOf(rig)).toEqual(["a1:held:edited"]);
  });
});
