import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { idle, queueOf, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { makeRig } from "./testing/rig.ts";

describe("after a restart", () => {
  test("[TAB-19] the list shows what waits in a tab that nobody has opened", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("never")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "later", "queue");
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    const before = rig.workspace.get(rig.tab);
    expect(isFault(before) ? null : before.queued).toBe(1);
    await using again = await rig.restarted();
    expect(again.workspace.list()).toMatchObject([{ id: again.tab, state: "idle", queued: 1 }]);
    expect(await queueOf(again)).toEqual(["q1:held:later"]);
  });

  test("[TAB-10] the open text of a turn that was ended is in the log, and in the journal no more", async () => {
    await using rig = await makeRig({ script: [{ blocks: [{ type: "text", text: "a long answer" }], chunkSize: 4 }] });
    const gate = rig.provider.gate();
    await send(rig, "m1", "go");
    await gate.step(2);
    await rig.until("it is journaled", () => rig.log.journal.blocksOf(rig.tab)[0]?.text === "a long a");
    await using again = await rig.restarted();
    expect(await texts(again)).toEqual(["user:go", "assistant:a long a"]);
    expect(again.log.journal.tabsWithBlocks()).toEqual([]);
    gate.release();
  });

  test("[TAB-19] a tab at rest without messages has no owner until somebody needs it", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await send(rig, "m1", "go");
    await rig.until("answered", idle(rig));
    await using again = await rig.restarted();
    expect(again.workspace.counters()).toMatchObject({ owners: 0 });
  });
});
