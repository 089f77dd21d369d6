import { isFault, type TabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { idle, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

/** A turn whose first step broke off behind a whole call, and was tried again. */
async function triedAgain(): Promise<Rig> {
  const rig = await makeRig({
    script: [{ ...works("c1"), fail: { kind: "cut", at: "end" } }, works("c2"), says("ok")],
  });
  await send(rig, "m1", "go");
  await toolRuns(rig);
  return rig;
}
const rowsIn = async (rig: Rig, tab: TabId) => {
  const page = await rig.workspace.page(tab, { limit: 500 });
  if (isFault(page)) throw new Error(page.message);
  return page.chunks;
};

describe("a cut in a turn that tried a step again", () => {
  test("[TAB-12] a fork closes the calls that count, and owes the voided step nothing", async () => {
    await using rig = await triedAgain();
    const rows = await rig.rows();
    expect(rows.some((row) => row.type === "system" && row.data.kind === "step-void")).toBe(true);
    const call = rows.findLast((row) => row.type === "tool_call");
    const fork = await rig.workspace.fork(rig.tab, call?.seq ?? 0);
    if (isFault(fork)) throw new Error(fork.message);
    const results = (await rowsIn(rig, fork.id)).flatMap((row) =>
      row.type === "tool_result" ? [row.data.callId] : [],
    );
    expect(results).toEqual(["c2"]);
    rig.provider.add(says("in the fork"));
    rig.works.get("c2")?.end("done");
    await rig.until("the parent ended", idle(rig));
  });

  test("[TAB-12] an edit of a steer of that turn does too", async () => {
    await using rig = await triedAgain();
    await send(rig, "s1", "a steer");
    rig.works.get("c2")?.end("done");
    await rig.until("the turn ended", idle(rig));
    const seq = (await rig.rows()).find((row) => row.id === "s1")?.seq ?? 0;
    rig.provider.add(says("to the other"));
    const resent = await rig.workspace.resend(rig.tab, { seq, id: rig.id("s2"), text: "another" }, "test");
    expect(resent).toMatchObject({ state: "sealed" });
    await rig.until("answered", idle(rig));
    expect(await texts(rig)).toEqual(["user:go", "user:another", "assistant:to the other"]);
  });
});
