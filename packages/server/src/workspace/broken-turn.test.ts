import { type Batch, type Log, memoryLog } from "@varve/log";
import { fault, isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { ends, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const endsTurn = ({ rows }: Batch): boolean =>
  rows.some((row) => row.type === "system" && row.data.kind === "turn-end");

/** A log that refuses what it should take: the first so many batches of a tab that hold a turn's end. */
function refusing(log: Log, times: number, tab: () => string): Log {
  let refused = 0;
  const commit: Log["commit"] = async (fence, batch) => {
    if (fence.tabId !== tab() || !endsTurn(batch) || refused >= times) return log.commit(fence, batch);
    refused++;
    return { kind: "refused", fault: fault("internal", "It does not like this.") };
  };
  return new Proxy(log, {
    get(target, name) {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function broken(times: number): Promise<Rig & { readonly evidence: readonly unknown[]; readonly good: Log }> {
  const evidence: unknown[] = [];
  const good = memoryLog();
  let tab = "";
  const log = refusing(good, times, () => tab);
  const script = [works("c1"), says("never said again"), says("next")];
  const rig = await makeRig({ script, log, broke: (error) => evidence.push(error) });
  tab = rig.tab;
  return { ...rig, evidence, good };
}
const faultOf = async (rig: Rig) => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? undefined : head.status.fault;
};
const rowErrors = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "error" ? [row.data.message] : []));

describe("a turn whose end cannot be written", () => {
  test("[TAB-123] once: the loop ends it with its evidence, and the tab goes on", async () => {
    await using rig = await broken(1);
    await send(rig, "m1", "go");
    await toolRuns(rig);
    rig.works.get("c1")?.end("fine");
    await rig.until("it failed", () => stateOf(rig) === "error");
    expect(await ends(rig)).toEqual(["error"]);
    expect(await rowErrors(rig)).toEqual([expect.stringContaining("It does not like this.")]);
    expect(rig.evidence).toHaveLength(1);
  });

  test("[TAB-123] twice: its owner closes it, what waits is held, and the next message is answered", async () => {
    await using rig = await broken(2);
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "later", "queue");
    rig.works.get("c1")?.end("fine");
    await rig.until("it failed", () => stateOf(rig) === "error");
    await rig.until("it was told", () => rig.evidence.length === 1);
    expect(await ends(rig)).toEqual(["error"]);
    expect(await rowErrors(rig)).toEqual([expect.stringContaining("It does not like this.")]);
    expect(await queueOf(rig)).toEqual(["q1:held:later"]);
    expect(await faultOf(rig)).toBeUndefined();
    await send(rig, "m2", "again");
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:next") && stateOf(rig) === "idle");
    expect(await queueOf(rig)).toEqual(["q1:held:later"]);
  });

  test("[TAB-123] never: the tab stands still and says why, other tabs live, and a restart recovers it", async () => {
    await using rig = await broken(Number.POSITIVE_INFINITY);
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "q1", "later", "queue");
    rig.works.get("c1")?.end("fine");
    await rig.until("it failed", () => stateOf(rig) === "error");
    await rig.until("every client is told", () => follower.state.status?.fault?.code === "internal");
    expect(rig.evidence).toHaveLength(1);
    expect(await faultOf(rig)).toMatchObject({ message: expect.stringContaining("It does not like this.") });
    expect(await send(rig, "m2", "again")).toMatchObject({ code: "internal" });
    expect(await rig.workspace.clear(rig.tab)).toMatchObject({ code: "internal" });
    expect(await rig.workspace.stop(rig.tab, {})).toEqual({ stopped: false });
    const other = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test" });
    if (isFault(other)) throw new Error(other.message);
    expect(await rig.workspace.send(other.id, { id: rig.id("o1"), text: "hi" }, "test")).toMatchObject({
      state: "sealed",
    });
    await using again = await rig.restarted({ log: rig.good });
    expect(await ends(again)).toEqual(["restart"]);
    expect(await queueOf(again)).toEqual(["q1:held:later"]);
    expect(await send(again, "m2", "again")).toMatchObject({ state: "sealed" });
  });
});
