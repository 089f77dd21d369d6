import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const statusOf = async (rig: Rig) => {
  const head = await rig.workspace.head(rig.tab);
  if (isFault(head)) throw new Error(head.message);
  return head.status;
};

test.each([
  ["failed", { fail: { kind: "status" as const, status: 400, message: "no" } }, "error"],
  ["ended well", { blocks: [{ type: "text" as const, text: "fine" }] }, "idle"],
])("[TAB-10] a turn that %s is shown as such after a restart too", async (_, reply, state) => {
  await using rig = await makeRig({ script: [reply] });
  await rig.workspace.send(rig.tab, { id: rig.id("m1"), text: "go" }, "test");
  await rig.until("the turn ended", async () => (await statusOf(rig)).turnId === null);
  const before = await statusOf(rig);
  expect(before).toMatchObject({ state, lastSealed: expect.any(String) });
  await using again = await rig.restarted();
  expect(await statusOf(again)).toMatchObject({ state, lastSealed: before.lastSealed });
  expect((await Follower.on(again)).state.status).toMatchObject({ state, lastSealed: before.lastSealed });
});

test("[TAB-10] a turn that a restart ended is the last one sealed", async () => {
  await using rig = await makeRig({ script: [{ blocks: [{ type: "tool_use", id: "c1", name: "work", input: {} }] }] });
  await rig.workspace.send(rig.tab, { id: rig.id("m1"), text: "go" }, "test");
  await rig.until("the tool runs", () => rig.works.size === 1);
  const { turnId } = await statusOf(rig);
  await using again = await rig.restarted();
  expect(await statusOf(again)).toMatchObject({ state: "idle", turnId: null, lastSealed: turnId });
});
