import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { idle, logOf, says, send } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

const record = (rig: Rig) => {
  const found = rig.workspace.get(rig.tab);
  if (isFault(found)) throw new Error(found.message);
  return found;
};

describe("what was seen", () => {
  test("[TAB-17] never lies behind the end of the log that the tab points to", async () => {
    await using rig = await makeRig({ script: [says("one"), says("two")] });
    await send(rig, "m1", "go");
    await rig.until("answered", idle(rig));
    const { tail } = record(rig);
    for (const seq of [tail + 1_000, 1.5, -1, Number.MAX_VALUE]) await rig.workspace.seen(rig.tab, seq);
    expect(record(rig).seen).toBe(tail);
  });

  test("[TAB-17] new rows are unseen after the tab was cleared, and back where they were seen they still are", async () => {
    await using rig = await makeRig({ script: [says("one"), says("two")] });
    await send(rig, "m1", "go");
    await rig.until("answered", idle(rig));
    const [first, { tail }] = [logOf(rig), record(rig)];
    await rig.workspace.seen(rig.tab, tail);
    await rig.workspace.clear(rig.tab);
    expect(record(rig).seen).toBe(0);
    await send(rig, "m2", "again");
    await rig.until("answered", idle(rig));
    expect(record(rig).tail).toBeGreaterThan(record(rig).seen);
    await rig.workspace.pointTo(rig.tab, first);
    expect(record(rig).seen).toBeLessThanOrEqual(tail);
  });

  test("[TAB-18] an answer to a tab at rest does not keep its rows in memory", async () => {
    await using rig = await makeRig({ script: [says("one"), says("two")] });
    await send(rig, "m1", "go");
    await rig.until("answered", idle(rig));
    await rig.clock.advance(61_000);
    const reads = { count: 0 };
    const page = rig.log.page.bind(rig.log);
    rig.log.page = (query) => {
      reads.count++;
      return page(query);
    };
    const stale = { askId: rig.id("none"), verdict: "once" } as const;
    expect(await rig.workspace.answer(rig.tab, stale, "x")).toMatchObject({ code: "unknown-question" });
    await rig.clock.advance(61_000);
    const before = reads.count;
    expect(await rig.workspace.answer(rig.tab, stale, "x")).toMatchObject({ code: "unknown-question" });
    expect(reads.count).toBeGreaterThan(before);
  });
});
