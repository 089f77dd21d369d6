import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { ends, idle, queueOf, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { heldLog } from "./testing/held-log.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const faultOf = async (rig: Rig): Promise<string | undefined> => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? head.code : head.status.fault?.code;
};

test("[TAB-112] a message whose write waits for the disk is shown as waiting, accepted when there is room, and nobody gets a fault", async () => {
  const { log, hold } = heldLog();
  await using rig = await makeRig({ script: [works("c1"), says("one"), says("two")], log });
  const follower = await Follower.on(rig);
  await send(rig, "m1", "go");
  await toolRuns(rig);
  const letGo = hold();
  const sent = send(rig, "q1", "next", "queue");
  await rig.until("the tab says why nothing moves", () => follower.state.status.fault?.code === "log-unavailable");
  expect(follower.state.status.state).toBe("running");
  expect(await queueOf(rig)).toEqual([]);
  letGo();
  expect(await sent).toMatchObject({ id: "q1", state: "queued" });
  await rig.until("nothing is wrong any more", () => follower.state.status.fault === undefined);
  rig.works.get("c1")?.end("done");
  await rig.until("all is answered", async () => (await texts(rig)).includes("assistant:two") && idle(rig)());
  expect(await faultOf(rig)).toBeUndefined();
});

test("[TAB-112] a write that is over soon is no news", async () => {
  const { log, hold } = heldLog();
  await using rig = await makeRig({ script: [says("one")], log });
  const follower = await Follower.on(rig);
  const letGo = hold();
  const sent = send(rig, "m1", "go");
  await rig.clock.advance(900);
  letGo();
  expect(await sent).toMatchObject({ state: "sealed" });
  await rig.until("it is answered", async () => (await texts(rig)).includes("assistant:one") && idle(rig)());
  const faults = follower.frames.flatMap((frame) =>
    frame.type === "ops" ? frame.ops.filter((op) => op.op === "status" && op.fault !== undefined) : [],
  );
  expect(faults).toEqual([]);
});

test.each(["the turn", "its call"])(
  "[TAB-6] a stop of %s is carried out also while a write waits for the disk, and says so once it is over",
  async (what) => {
    const { log, hold } = heldLog();
    await using rig = await makeRig({ script: [works("c1"), says("one"), says("two")], log });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    const letGo = hold();
    const sent = send(rig, "q1", "next", "queue");
    const stopping = rig.workspace.stop(rig.tab, what === "the turn" ? {} : { callId: "c1" });
    await rig.until("the tool was ended", () => rig.works.size === 0);
    expect(await queueOf(rig)).toEqual([]);
    letGo();
    expect([await sent, await stopping]).toMatchObject([{ state: "queued" }, { stopped: true }]);
    await rig.until("the turn ended", async () => (await ends(rig)).length > 0 && idle(rig)());
    expect((await ends(rig))[0]).toBe(what === "the turn" ? "stopped" : "done");
  },
);
