import { type Log, memoryLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { idle, queueOf, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

/** A log whose commits wait while it is held, as a database does that another program has locked. */
function heldLog(): { readonly log: Log; hold(): () => void } {
  const inner = memoryLog();
  let held: Promise<void> | null = null;
  const commit: Log["commit"] = async (fence, batch) => {
    await held;
    return inner.commit(fence, batch);
  };
  const log = new Proxy(inner, {
    get(target, name) {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const hold = (): (() => void) => {
    let letGo = (): void => undefined;
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    return () => {
      held = null;
      letGo();
    };
  };
  return { log, hold };
}

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
