import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { idle, queueOf, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

async function running(...waiting: readonly string[]): Promise<Rig> {
  const rig = await makeRig({ script: [works("c1"), says("next")] });
  await send(rig, "m1", "go");
  await toolRuns(rig);
  for (const id of waiting) await send(rig, id, id, "queue");
  return rig;
}
const versionIn = async (rig: Rig, id: string): Promise<number> => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? 0 : (head.queue.find((message) => message.id === id)?.version ?? 0);
};

describe("changes of waiting messages", () => {
  test("[TAB-7] a message cannot be edited into an empty one", async () => {
    await using rig = await running("q1");
    const edit = { version: 1, text: " \n " };
    expect(await rig.workspace.patchQueued(rig.tab, rig.id("q1"), edit)).toMatchObject({ code: "bad-request" });
    expect(await queueOf(rig)).toEqual(["q1:queued:q1"]);
  });

  test("[TAB-7] messages can be moved as often as a person likes, and each move does what it says", async () => {
    await using rig = await running("a", "b", "c");
    let order = ["a", "b", "c"];
    for (let move = 0; move < 150; move++) {
      // The last one always goes between the other two, which halves the room there.
      const [first = "", second = "", last = ""] = order;
      const version = await versionIn(rig, last);
      const patch = { version, before: rig.id(second) };
      expect(await rig.workspace.patchQueued(rig.tab, rig.id(last), patch)).toMatchObject({ id: last });
      order = [first, last, second];
      expect((await queueOf(rig)).map((entry) => entry.slice(0, 1))).toEqual(order);
    }
  });

  test("[TAB-7] no message more than the limit waits, and the one too many is told", async () => {
    await using rig = await running();
    for (let at = 0; at < 100; at++) await send(rig, `q${at}`, "x", "queue");
    expect(await send(rig, "q100", "x", "queue")).toMatchObject({ code: "queue-full" });
    expect(await rig.workspace.cancelQueued(rig.tab, rig.id("q7"))).toMatchObject({ state: "dropped" });
    expect(await send(rig, "q100", "x", "queue")).toMatchObject({ state: "queued" });
    expect((await queueOf(rig)).at(-1)).toBe("q100:queued:x");
  });

  test("[TAB-6] a stop that names no call of the turn says that it stopped nothing", async () => {
    await using rig = await running();
    expect(await rig.workspace.stop(rig.tab, { callId: "no such call" })).toEqual({ stopped: false });
    rig.works.get("c1")?.end("fine");
    await rig.until("the turn ended", idle(rig));
    expect(await texts(rig)).toEqual(["user:go", "assistant:next"]);
    expect(await rig.workspace.stop(rig.tab, { callId: "c1" })).toEqual({ stopped: false });
  });
});
