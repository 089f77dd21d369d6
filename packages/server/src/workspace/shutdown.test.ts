import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { ends, idle, question, queueOf, says, send, texts, toolRuns, works } from "./testing/acts.ts";
import { heldLog } from "./testing/held-log.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

const usualMs = 3_000;

/** Closes while `meanwhile` happens; how much time that took. */
async function closed(
  rig: Rig,
  {
    meanwhile = () => undefined,
    graceMs = usualMs,
  }: { readonly meanwhile?: () => void; readonly graceMs?: number } = {},
): Promise<number> {
  const before = rig.clock.now();
  let over = false;
  const closing = rig.workspace.close(graceMs).then(() => {
    over = true;
  });
  meanwhile();
  await rig.until("it is closed", () => over);
  await closing;
  return rig.clock.now() - before;
}

describe("a server that ends", () => {
  test("[TAB-15] a turn ends at its next step boundary, with its results and before another request", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("never")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await send(rig, "s1", "a steer");
    const took = await closed(rig, { meanwhile: () => rig.works.get("c1")?.end("done") });
    expect(took).toBeLessThan(usualMs);
    expect(await ends(rig)).toEqual(["restart"]);
    expect((await rig.rows()).find((row) => row.type === "tool_result")?.data).toMatchObject({ result: "done" });
    expect(rig.provider.calls).toHaveLength(1);
    expect(await queueOf(rig)).toEqual(["s1:held:a steer"]);
  });

  test("[TAB-15] one that comes to no boundary is stopped when the time is over", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("never")] });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    await closed(rig);
    expect(await ends(rig)).toEqual(["restart"]);
    expect((await rig.rows()).find((row) => row.type === "tool_result")?.data).toMatchObject({ isError: true });
    expect(rig.provider.calls).toHaveLength(1);
  });

  test("[TAB-15] one that waits to try a request again is not waited for", async () => {
    const busy = { fail: { kind: "status" as const, status: 503 } };
    await using rig = await makeRig({ script: [busy, says("never")] });
    await send(rig, "m1", "go");
    await rig.until("it waits to try again", async () => {
      const head = await rig.workspace.head(rig.tab);
      return !("code" in head) && head.status.retry !== undefined;
    });
    const took = await closed(rig);
    expect(took).toBeLessThan(500);
    expect(await ends(rig)).toEqual(["restart"]);
  });

  test("[TAB-15] one that waits for a person stays open, and so does one that asks meanwhile", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("ok")], permissions: "ask" });
    await send(rig, "m1", "go");
    await closed(rig);
    expect(await ends(rig)).toEqual([]);
    await using again = await rig.restarted();
    const askId = await question(again);
    expect(await again.workspace.answer(again.tab, { askId, verdict: "once" }, "x")).toBeNull();
    await toolRuns(again);
    again.works.get("c1")?.end("done");
    await again.until("the turn ended", idle(again));
    expect(await texts(again)).toEqual(["user:go", "assistant:ok"]);
  });

  test("[TAB-15] a message that was being taken is in a turn that has ended, or refused", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("never")] });
    const sending = send(rig, "m1", "go");
    await closed(rig);
    const sent = await sending;
    expect("code" in sent ? sent.code : await ends(rig)).toEqual("code" in sent ? "shutting-down" : ["restart"]);
    expect(await send(rig, "m2", "more")).toMatchObject({ code: "shutting-down" });
  });

  test("[TAB-15] neither does a tab that is just being opened, and nothing begins there behind the end", async () => {
    const { log, hold } = heldLog();
    await using first = await makeRig({ script: [works("c1"), says("ok")], permissions: "ask", log });
    await send(first, "m1", "go");
    await question(first);
    await using second = await first.restarted();
    const third = await second.workspace.create({ cwd: "/project", model: "anthropic/claude-test" });
    if (isFault(third)) throw new Error(third.message);
    const letGo = hold();
    const asked = second.workspace.head(third.id);
    await second.clock.advance(5);
    expect(await closed(second, { graceMs: 400 })).toBeLessThan(3 * 400 + 100);
    letGo();
    expect(await asked).toMatchObject({ code: "shutting-down" });
    expect(second.workspace.counters()).toMatchObject({ owners: 1 });
  });

  test("[TAB-15] a write that waits for a held disk keeps no server from ending, and what ran is stopped", async () => {
    const { log, hold } = heldLog();
    await using rig = await makeRig({ script: [works("c1"), says("never")], log });
    await send(rig, "m1", "go");
    await toolRuns(rig);
    const letGo = hold();
    const sent = send(rig, "q1", "later", "queue");
    await rig.clock.advance(5);
    expect(await closed(rig, { graceMs: 400 })).toBeLessThan(3 * 400 + 100);
    expect(rig.works.size).toBe(0);
    letGo();
    expect(await sent).toMatchObject({ state: "queued" });
    await using again = await rig.restarted();
    expect(await ends(again)).toEqual(["restart"]);
    expect(await queueOf(again)).toEqual(["q1:held:later"]);
  });
});
