import { fault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { ends, idle, question, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

/** Both ways into the trash. */
const ways: readonly (readonly [string, (rig: Rig) => Promise<unknown>])[] = [
  ["removed", (rig) => rig.workspace.remove(rig.tab)],
  ["changed to trashed", (rig) => rig.workspace.patch(rig.tab, { trashed: true })],
];

describe("the trash", () => {
  test.each(ways)("[TAB-14] a running turn of a tab that is %s is stopped", async (_, trash) => {
    await using rig = await makeRig({ script: [works("c1"), says("never")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await trash(rig);
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["stopped"]);
    expect(rig.provider.calls).toHaveLength(1);
  });

  test.each(ways)("[TAB-14] a tab that waits for a person and is %s can be purged", async (_, trash) => {
    await using rig = await makeRig({ script: [works("c1")], permissions: "ask" });
    await send(rig, "m1", "go");
    await question(rig);
    await trash(rig);
    await rig.until("the turn ended", idle(rig));
    expect(await rig.workspace.remove(rig.tab)).toBeNull();
    expect(stateOf(rig)).toBe("unknown-tab");
  });

  test.each(ways)(
    "[TAB-14] what waits in a tab that is %s is held, also what was sent with a stop",
    async (_, trash) => {
      await using rig = await makeRig({ script: [works("c1"), says("never")] });
      await send(rig, "m1", "go");
      await toolRuns(rig);
      await send(rig, "q1", "later", "queue");
      const [sent] = await Promise.all([send(rig, "s1", "urgent", "stop"), trash(rig)]);
      expect(sent).toMatchObject({ state: "queued" });
      await rig.until("the turn ended", async () => (await ends(rig)).length > 0 && idle(rig)());
      expect(await queueOf(rig)).toEqual(["q1:held:later", "s1:held:urgent"]);
      expect(rig.provider.calls).toHaveLength(1);
    },
  );

  test("[TAB-14] a tab whose way into the trash could not be written works on", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("fine")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    const change = rig.log.changeTab;
    const full = fault("disk-full", "The disk is full.");
    Object.assign(rig.log, { changeTab: async () => full });
    expect(await rig.workspace.patch(rig.tab, { trashed: true })).toEqual(full);
    Object.assign(rig.log, { changeTab: change });
    expect([rig.works.size, rig.closedPlaces]).toEqual([1, []]);
    rig.works.get("c1")?.end("done");
    await rig.until("the turn ended", idle(rig));
    expect(await ends(rig)).toEqual(["done"]);
  });

  test("[TAB-14] whoever follows a tab that is purged is let go", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await Follower.on(rig);
    expect(rig.workspace.counters()).toMatchObject({ subscriptions: 1, owners: 1 });
    await rig.workspace.remove(rig.tab);
    expect(await rig.workspace.remove(rig.tab)).toBeNull();
    expect(rig.workspace.counters()).toMatchObject({ subscriptions: 0, owners: 0, tabs: 0 });
  });

  test("[TAB-14] a tab that is purged leaves no timer that would keep it in memory", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    const before = rig.clock.pending();
    await send(rig, "m1", "go");
    await rig.until("the turn ended", idle(rig));
    await rig.workspace.remove(rig.tab);
    expect(rig.clock.pending()).toBeGreaterThan(before);
    expect(await rig.workspace.remove(rig.tab)).toBeNull();
    expect(rig.clock.pending()).toBe(before);
  });

  test.each(ways)(
    "[TAB-122] background jobs of a tab that is %s are ended, and what rows name is kept",
    async (_, trash) => {
      await using rig = await makeRig({ script: [says("one")] });
      await send(rig, "m1", "go");
      await rig.until("the turn ended", idle(rig));
      await trash(rig);
      expect(rig.closedPlaces).toEqual([`${rig.tab}:keep`]);
      expect(await rig.workspace.remove(rig.tab)).toBeNull();
      expect(rig.closedPlaces).toEqual([`${rig.tab}:keep`, `${rig.tab}:drop`]);
    },
  );

  test("[TAB-14] a release in the trash is refused; restored, the message is sent", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("answered")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "later", "queue");
    await rig.workspace.remove(rig.tab);
    await rig.until("it is held", async () => (await queueOf(rig)).includes("q1:held:later"));
    const release = { version: 2, state: "queued" } as const;
    expect(await rig.workspace.patchQueued(rig.tab, rig.id("q1"), release)).toMatchObject({ code: "tab-trashed" });
    expect(await queueOf(rig)).toEqual(["q1:held:later"]);
    await rig.workspace.patch(rig.tab, { trashed: false });
    expect(await rig.workspace.patchQueued(rig.tab, rig.id("q1"), release)).toMatchObject({ state: "queued" });
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:answered") && idle(rig)());
  });
});
