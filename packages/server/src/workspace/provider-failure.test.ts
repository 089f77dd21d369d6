import { isFault } from "@varve/protocol";
import type { Failure, ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ends, idle, queueOf, says, send, stateOf, texts } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

const retryOf = async (rig: Rig) => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? undefined : head.status.retry;
};
const failing = (fail: Failure, text?: string): ScriptItem => ({
  ...(text !== undefined && { blocks: [{ type: "text", text }] }),
  fail,
});
const busy = failing({ kind: "status", status: 429, headers: { "retry-after": "3" } });

describe("H24: a provider that fails", () => {
  test("[TAB-127] (a) every client sees which try is next and when; the waits are as long as was asked for", async () => {
    await using rig = await makeRig({ script: [busy, busy, says("at last")] });
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    const shown: number[] = [];
    for (const attempt of [1, 2]) {
      await rig.until("it waits", () => follower.state.status.retry?.attempt === attempt);
      const at = follower.state.status.retry?.at ?? 0;
      expect(follower.state.status.state).toBe("running");
      shown.push(at - rig.clock.now());
      expect(rig.provider.calls).toHaveLength(attempt);
      await rig.clock.advance(at - rig.clock.now());
    }
    for (const wait of shown) {
      expect(wait).toBeGreaterThan(2_500);
      expect(wait).toBeLessThan(5_000);
    }
    await rig.until("answered", idle(rig));
    await rig.until("the follower knows", () => follower.state.status.retry === undefined);
    expect(await texts(rig)).toEqual(["user:go", "assistant:at last"]);
  });

  test("[TAB-127] (a) a stop during the wait ends the turn at once, and no further request is made", async () => {
    await using rig = await makeRig({ script: [busy, says("never")] });
    await send(rig, "m1", "go");
    await rig.until("it waits", async () => (await retryOf(rig)) !== undefined);
    const before = rig.clock.now();
    await rig.workspace.stop(rig.tab, {});
    await rig.until("the turn ended", idle(rig));
    expect(rig.clock.now() - before).toBeLessThan(200);
    await rig.clock.advance(60_000);
    expect(rig.provider.calls).toHaveLength(1);
    expect(await ends(rig)).toEqual(["stopped"]);
  });

  test("[TAB-127] (c) what a failed try had said is there at most once, and all clients agree", async () => {
    const cut: Failure = { kind: "error-event", at: 1, errorType: "overloaded_error" };
    await using rig = await makeRig({ script: [failing(cut, "Hel"), says("Hello")] });
    const followers = [await Follower.on(rig), await Follower.on(rig)];
    await send(rig, "m1", "go");
    await rig.until("it waits", async () => (await retryOf(rig)) !== undefined);
    const late = await Follower.on(rig);
    await rig.clock.advance(60_000);
    await rig.until("answered", idle(rig));
    await rig.until("all know", () => [...followers, late].every(({ state }) => state.status.state === "idle"));
    expect((await texts(rig)).filter((text) => text === "assistant:Hel").length).toBeLessThanOrEqual(1);
    for (const one of [...followers, late]) {
      expect(one.texts()).toEqual(await texts(rig));
      expect(one.openText()).toBe("");
    }
  });

  test.each<[string, readonly ScriptItem[], string, readonly string[]]>([
    ["is answered after a retry that works", [busy, says("one"), says("two")], "idle", []],
    ["is held when the failure stays", [failing({ kind: "status", status: 400 })], "error", ["q1:held:later"]],
  ])("[TAB-127] (d)(f) a message queued meanwhile %s", async (_name, script, state, waiting) => {
    await using rig = await makeRig({ script });
    const gate = rig.provider.gate();
    await send(rig, "m1", "go");
    await gate.started;
    expect(await send(rig, "q1", "later", "queue")).toMatchObject({ state: "queued" });
    gate.release();
    await rig.until("it rests", async () => stateOf(rig) === state && (await retryOf(rig)) === undefined);
    await rig.until("all calls came", () => rig.provider.calls.length === script.length);
    await rig.until("it rests", () => stateOf(rig) === state);
    expect(await queueOf(rig)).toEqual(waiting);
    const isSent = (await texts(rig)).includes("user:later");
    expect(isSent).toBe(waiting.length === 0);
  });
});
