import { isFault, limits, type TabStatus, type TurnId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { carryOut } from "../carry-out.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const says = (text: string) => ({ blocks: [{ type: "text" as const, text }] });
const works = (...ids: readonly string[]) => ({
  blocks: ids.map((id) => ({ type: "tool_use" as const, id, name: "work", input: {} })),
});
const send = (rig: Rig, id: string, text: string) => rig.workspace.send(rig.tab, { id: rig.id(id), text }, "test");
const background = (rig: Rig, callId: string, turnId?: TurnId) =>
  rig.workspace.background(rig.tab, { callId, ...(turnId !== undefined && { turnId }) });
const idle = (rig: Rig) => (): boolean => {
  const record = rig.workspace.get(rig.tab);
  return !isFault(record) && record.state === "idle";
};
const statusOf = async (rig: Rig): Promise<TabStatus> => {
  const head = await rig.workspace.head(rig.tab);
  if (isFault(head)) throw new Error(head.message);
  return head.status;
};
/** Rows in short words. */
const words = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).flatMap((row) => {
    if (row.type === "text") return [`${row.role}:${row.data.text}`];
    if (row.type === "tool_result") return [`result:${row.data.callId}=${row.data.result}`];
    return row.type === "system" && row.data.kind === "turn-end" ? [`end:${row.data.reason}`] : [];
  });

/** As `bash` does: the call ends in the tick in which it is moved. */
function movable(rig: Rig, callId: string, job = "1"): void {
  const work = rig.works.get(callId);
  work?.run.canMove?.(() => {
    work.end(`continues as job ${job}`);
    return true;
  });
}

describe("a call that goes on in the background", () => {
  test("[TAB-121] ends with its job in the result, and the steer that waited for it is delivered", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("steered")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    movable(rig, "c1");
    await send(rig, "s", "hurry");
    expect(await background(rig, "c1")).toEqual({ moved: true });
    await rig.until("the turn ended", idle(rig));
    expect(await words(rig)).toEqual([
      "user:go",
      "result:c1=continues as job 1",
      "user:hurry",
      "assistant:steered",
      "end:done",
    ]);
  });

  test("[TAB-121] the step ends only when its other calls have their results", async () => {
    await using rig = await makeRig({ script: [works("c1", "c2"), says("steered")] });
    await send(rig, "m1", "go");
    await rig.until("both run", () => rig.works.size === 2);
    movable(rig, "c1");
    await send(rig, "s", "hurry");
    expect(await background(rig, "c1")).toEqual({ moved: true });
    await rig.until("its result is there", async () => (await words(rig)).length === 2);
    expect(rig.provider.calls).toHaveLength(1);
    rig.works.get("c2")?.end("whole");
    await rig.until("the turn ended", idle(rig));
    expect(await words(rig)).toEqual([
      "user:go",
      "result:c1=continues as job 1",
      "result:c2=whole",
      "user:hurry",
      "assistant:steered",
      "end:done",
    ]);
  });

  test("[TAB-121] what does not run, cannot be moved, or belongs to another turn is left alone", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("fine")] });
    expect(await background(rig, "c1")).toEqual({ moved: false });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    const { turnId } = await statusOf(rig);
    if (turnId === null) throw new Error("a turn is open");
    expect(await background(rig, "c1")).toEqual({ moved: false });
    movable(rig, "c1");
    expect(await background(rig, "other")).toEqual({ moved: false });
    expect(await background(rig, "c1", `${turnId}x` as TurnId)).toEqual({ moved: false });
    expect(rig.works.size).toBe(1);
    expect(await background(rig, "c1", turnId)).toEqual({ moved: true });
    await rig.until("the turn ended", idle(rig));
    expect(await background(rig, "c1", turnId)).toEqual({ moved: false });
    expect((await words(rig)).filter((word) => word.startsWith("result:"))).toHaveLength(1);
  });

  test("[TAB-121] two clients that wish it at once move it once", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("fine")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    movable(rig, "c1");
    expect(await Promise.all([background(rig, "c1"), background(rig, "c1")])).toEqual([
      { moved: true },
      { moved: true },
    ]);
    await rig.until("the turn ended", idle(rig));
    expect(await words(rig)).toEqual(["user:go", "result:c1=continues as job 1", "assistant:fine", "end:done"]);
  });

  test("[TAB-121] a call that waits for a permission is none that runs", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("fine")], permissions: "ask" });
    await send(rig, "m1", "go");
    await rig.until("it asks", async () => (await statusOf(rig)).state === "waiting");
    expect(await background(rig, "c1")).toEqual({ moved: false });
    await rig.clock.advance(2 * limits.longCallMs);
    expect((await statusOf(rig)).calls).toBeUndefined();
    const [wait] = (await statusOf(rig)).waits;
    if (wait === undefined) throw new Error("it waits");
    await rig.workspace.answer(rig.tab, { askId: wait.askId, verdict: "once" }, "test");
    await rig.until("the tool runs", () => rig.works.size === 1);
    const began = rig.clock.now();
    await rig.until("it is long", async () => (await statusOf(rig)).calls !== undefined);
    const [long] = (await statusOf(rig)).calls ?? [];
    expect(long?.callId).toBe("c1");
    expect(Math.abs((long?.since ?? 0) - began)).toBeLessThan(200);
  });

  test("[TAB-121] a turn that is being stopped moves nothing", async () => {
    await using rig = await makeRig({ script: [works("c1")] });
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    let moves = 0;
    rig.works.get("c1")?.run.canMove?.(() => ++moves > 0);
    const [stopped, moved] = await Promise.all([rig.workspace.stop(rig.tab, {}), background(rig, "c1")]);
    expect([stopped, moved, moves]).toEqual([{ stopped: true }, { moved: false }, 0]);
    await rig.until("the turn ended", idle(rig));
  });
});

describe("a long call in the status", () => {
  test("[TAB-120] every client sees it, also one that comes later, until it ends", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("fine")] });
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await rig.until("the tool runs", () => rig.works.size === 1);
    await rig.until("it is long", () => follower.state.status?.calls !== undefined);
    const later = await Follower.on(rig);
    const [shown, alsoShown] = [follower, later].map(({ state }) => state.status?.calls);
    expect(shown).toMatchObject([{ callId: "c1", name: "work", movable: false }]);
    expect(alsoShown).toEqual(shown);
    movable(rig, "c1");
    await rig.until("the way is shown", () => follower.state.status?.calls?.[0]?.movable === true);
    rig.works.get("c1")?.end("whole");
    await rig.until("the turn ended", idle(rig));
    await rig.until("both are told", () => follower.state.status?.calls === undefined);
    expect((await statusOf(rig)).calls).toBeUndefined();
  });

  test("[TAB-120] one that is stopped with its turn is gone with it", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("next")] });
    await send(rig, "m1", "go");
    await rig.until("it is long", async () => (await statusOf(rig)).calls?.length === 1);
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect((await statusOf(rig)).calls).toBeUndefined();
    await send(rig, "m2", "again");
    await rig.until("the next ended", idle(rig));
    expect((await statusOf(rig)).calls).toBeUndefined();
  });

  test("[TAB-120] a question that waits for a person is no long call", async () => {
    const asks = { blocks: [{ type: "tool_use" as const, id: "c1", name: "ask", input: {} }] };
    await using rig = await makeRig({ script: [asks] });
    await send(rig, "m1", "go");
    await rig.until("it asks", async () => (await statusOf(rig)).state === "waiting");
    await rig.clock.advance(2 * limits.longCallMs);
    expect(await statusOf(rig)).toMatchObject({ state: "waiting", waits: [{ callId: "c1" }] });
    expect((await statusOf(rig)).calls).toBeUndefined();
  });
});

describe("the wish as a command", () => {
  test("[HTTP-31] of a socket reaches the tab as it was given", async () => {
    await using rig = await makeRig();
    const seen: unknown[] = [];
    rig.workspace.background = async (...given) => {
      seen.push(given);
      return { moved: false };
    };
    const turnId = "t1" as TurnId;
    const command = { type: "background", re: 1, tab: rig.tab, callId: "c" } as const;
    expect(await carryOut(rig.workspace, command, "phone")).toEqual({ state: "done" });
    expect(await carryOut(rig.workspace, { ...command, turnId }, "phone")).toEqual({ state: "done" });
    expect(seen).toEqual([
      [rig.tab, { callId: "c" }],
      [rig.tab, { callId: "c", turnId }],
    ]);
  });
});
