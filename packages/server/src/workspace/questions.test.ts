import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { calls, ends, idle, question, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

const asksForWork = { script: [works("c1"), says("ok")], permissions: "ask" as const };

/** Another server, on which no call has got past its preparation, as when the disk is slow. */
async function restartedSlowly(rig: Rig): Promise<{ readonly again: Rig; readonly goOn: () => void }> {
  let goOn = (): void => undefined;
  rig.preparing.until = new Promise((resolve) => {
    goOn = resolve;
  });
  return { again: await rig.restarted(), goOn: () => goOn() };
}

describe("questions across a restart", () => {
  test("[TAB-9] an answer that comes first thing after a restart is taken", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    const { again: slow, goOn } = await restartedSlowly(rig);
    await using again = slow;
    expect(await again.workspace.answer(again.tab, { askId, verdict: "once" }, "phone")).toBeNull();
    goOn();
    await toolRuns(again);
    again.works.get("c1")?.end("done");
    await again.until("the turn ended", idle(again));
    expect(await texts(again)).toEqual(["user:go", "assistant:ok"]);
  });

  test("[TAB-9] so is the text that the agent asked for", async () => {
    await using rig = await makeRig({ script: [calls("ask", "c1"), says("ok")] });
    await send(rig, "m1", "go");
    const askId = await question(rig);
    const { again: slow, goOn } = await restartedSlowly(rig);
    await using again = slow;
    expect(await again.workspace.answer(again.tab, { askId, text: "blue" }, "phone")).toBeNull();
    goOn();
    await again.until("the turn ended", idle(again));
    const result = (await again.rows()).find((row) => row.type === "tool_result");
    expect(result?.data).toMatchObject({ result: "blue", isError: false });
  });

  test("[TAB-9] the tab says that it waits as soon as it is there again", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    const { again: slow, goOn } = await restartedSlowly(rig);
    await using again = slow;
    const head = await again.workspace.head(again.tab);
    expect(isFault(head) ? [] : [head.status.state, head.status.waits.map((wait) => wait.askId)]).toEqual([
      "waiting",
      [askId],
    ]);
    goOn();
  });

  test("[TAB-9] a stop right after the restart ends it, and its question with it", async () => {
    await using rig = await makeRig(asksForWork);
    await send(rig, "m1", "go");
    const askId = await question(rig);
    const { again: slow, goOn } = await restartedSlowly(rig);
    await using again = slow;
    expect(await again.workspace.stop(again.tab, {})).toEqual({ stopped: true });
    expect(await again.workspace.answer(again.tab, { askId, verdict: "once" }, "x")).toMatchObject({
      code: "unknown-question",
    });
    goOn();
    await again.until("the turn ended", idle(again));
    expect(await ends(again)).toEqual(["stopped"]);
    expect(again.works.size).toBe(0);
  });
});

test("[PERM-48] asked by one server, answered to the next from another device, which is told", async () => {
  await using rig = await makeRig(asksForWork);
  await send(rig, "m1", "go");
  const askId = await question(rig);
  await using again = await rig.restarted();
  expect(await again.workspace.asked(again.tab, {})).toMatchObject({ questions: [{ askId, answer: null }] });
  expect(await again.workspace.answer(again.tab, { askId, verdict: "tab" }, "phone")).toBeNull();
  expect(await again.workspace.answer(again.tab, { askId, verdict: "deny" }, "laptop")).toMatchObject({
    code: "already-answered",
  });
  await toolRuns(again);
  again.works.get("c1")?.end("done");
  await again.until("the turn ended", idle(again));
  expect(await again.workspace.asked(again.tab, {})).toMatchObject({
    questions: [{ askId, answer: { verdict: "tab", by: "phone" } }],
    granted: [{ askId, by: "phone" }],
    more: false,
  });
});

describe("what goes on beside a question", () => {
  test("[TAB-8] a stop-and-send ends the turn that waits and begins the next one", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")], permissions: "ask" });
    await send(rig, "m1", "go");
    await question(rig);
    await send(rig, "q1", "later", "queue");
    await send(rig, "s1", "urgent", "stop");
    await send(rig, "s2", "and this", "stop");
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:urgent done") && idle(rig)());
    expect(await texts(rig)).toEqual(["user:go", "user:urgent", "user:and this", "assistant:urgent done"]);
    expect(await ends(rig)).toEqual(["stopped", "done"]);
    expect(await queueOf(rig)).toEqual(["q1:held:later"]);
  });

  test("[TAB-8] a waiting message that is edited to stop-and-send does it", async () => {
    await using rig = await makeRig({ script: [works("c1"), says("urgent done")], permissions: "ask" });
    await send(rig, "m1", "go");
    await question(rig);
    await send(rig, "q1", "now", "queue");
    await rig.workspace.patchQueued(rig.tab, rig.id("q1"), { version: 1, delivery: "stop" });
    await rig.until("answered", async () => (await texts(rig)).includes("assistant:urgent done") && idle(rig)());
    expect(await ends(rig)).toEqual(["stopped", "done"]);
  });

  test("[TAB-8] two questions of one step are answered one by one, and the tab waits until the last", async () => {
    await using rig = await makeRig({ script: [works("c1", "c2"), says("ok")], permissions: "ask" });
    await send(rig, "m1", "go");
    const first = await question(rig);
    await rig.until("both ask", async () => {
      const head = await rig.workspace.head(rig.tab);
      return !isFault(head) && head.status.waits.length === 2;
    });
    expect(await rig.workspace.answer(rig.tab, { askId: first, verdict: "once" }, "x")).toBeNull();
    await toolRuns(rig);
    expect(stateOf(rig)).toBe("waiting");
    const second = await question(rig);
    expect(await rig.workspace.answer(rig.tab, { askId: second, verdict: "deny" }, "x")).toBeNull();
    expect(stateOf(rig)).toBe("running");
    for (const work of rig.works.values()) work.end("done");
    await rig.until("the turn ended", idle(rig));
  });
});
