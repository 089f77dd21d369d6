import { memoryLog, verifyRows } from "@varve/log";
import { createFakeClock, createFakeIds, settle } from "@varve/sim";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decide } from "./permission/decide-contract.ts";
import { type FakeTool, fakeToolBox, ok, untilStopped } from "./testing/fake-tools.ts";
import type { Answer, ScriptedPart } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { askForRuns, restartTab, startTab, wordsOf } from "./testing/world.ts";

const quick: FakeTool = { name: "true", run: () => ok("") };
const sleeps: FakeTool = { name: "sleep", run: (run) => untilStopped(run) };
const deaf: FakeTool = { name: "deaf", run: () => new Promise(() => undefined) };

async function world(answers: readonly Answer[], options: { tools?: readonly FakeTool[]; decide?: Decide } = {}) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers);
  const made = {
    log: memoryLog(),
    clock,
    ids: createFakeIds(),
    tools: fakeToolBox(options.tools ?? [quick, sleeps, deaf]),
    models: model.models,
    ...(options.decide === undefined ? {} : { decide: options.decide }),
  };
  return { clock, requests: model.requests, tab: await startTab(made), again: () => restartTab(made) };
}

const three: Answer = [call("A", "true", {}), call("B", "sleep", {}), call("C", "sleep", {}), finish("tool-calls")];
const fine: Answer = [...say("fine"), finish()];
/** Everything that needs no outer world has run. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 5; round++) await settle();
}
const hang: ScriptedPart = { type: "hang" };

describe("stop", () => {
  test("[LOOP-8] H25 in the middle of tools: the real result stays, the others say that they were stopped", async () => {
    const { tab, requests } = await world([three, fine]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    tab.stop();
    await tab.idle();
    const words = wordsOf(tab.rows);
    expect(words.slice(0, 5)).toEqual(["user:go", "call:A", "call:B", "call:C", "result:A=(no output)"]);
    expect(words.slice(5, 7).toSorted()).toEqual([
      "result!:B=stopped by user\nhalf",
      "result!:C=stopped by user\nhalf",
    ]);
    expect(words.slice(7)).toEqual(["end:stopped"]);
    await tab.send("again");
    await tab.idle();
    const results = requests[1]?.prompt.find((message) => message.role === "tool");
    expect(results?.content.map((part) => "toolCallId" in part && part.toolCallId)).toEqual(["A", "B", "C"]);
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:fine", "end:done"]);
  });

  test("[LOOP-8] H25 during text: what had come is sealed as partial and stands in the next request", async () => {
    const half: Answer = [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "half an" },
      hang,
    ];
    const { tab, requests } = await world([half, fine]);
    await tab.send("go");
    await tab.until(() => [...tab.open.values()].some((open) => open.text === "half an"));
    tab.stop();
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "thinking?:hm", "text?:half an", "end:stopped"]);
    await tab.send("go on");
    await tab.idle();
    expect(JSON.stringify(requests[1]?.prompt)).toContain("half an");
    expect(JSON.stringify(requests[1]?.prompt)).not.toContain("hm");
  });

  test("[LOOP-8] of a call that had come whole before the stop, the result says stopped; a half call leaves nothing", async () => {
    const { tab } = await world([
      [call("A", "true", {}), { type: "tool-input-start", id: "B", toolName: "sleep" }, hang],
      fine,
    ]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_call"));
    tab.stop();
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "call:A", "result!:A=stopped by user", "end:stopped"]);
  });

  test("[LOOP-8] H07 before the first delta: nothing is left behind, five times over", async () => {
    const { tab, requests } = await world(
      Array.from({ length: 11 }, (_, index): Answer => (index % 2 === 0 && index < 10 ? [hang] : fine)),
    );
    for (let round = 0; round < 5; round++) {
      await tab.send(`stop ${round}`);
      await quiet();
      expect(requests).toHaveLength(round * 2 + 1);
      tab.stop();
      await tab.idle();
      await tab.send(`go ${round}`);
      await tab.idle();
    }
    expect(requests).toHaveLength(10);
    const assistant = tab.rows.filter((row) => row.role === "assistant");
    expect(assistant).toHaveLength(5);
    await tab.send("sixth");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:fine", "end:done"]);
  });

  test("[LOOP-8] a deadline ends the turn as one, and says so in the results", async () => {
    const { tab } = await world([three]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    tab.stop("deadline");
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:deadline");
    expect(wordsOf(tab.rows).filter((word) => word.includes("time limit"))).toHaveLength(2);
  });

  test("[LOOP-8] the end of the server ends the turn as a restart, and a notice says why", async () => {
    const { tab } = await world([three]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    tab.stop("restart");
    await tab.idle();
    const [notice, end] = tab.rows.slice(-2);
    expect(notice?.data).toMatchObject({ kind: "notice", code: "restarted" });
    expect(end?.data).toMatchObject({ kind: "turn-end", reason: "restart" });
    expect(wordsOf(tab.rows).filter((word) => word.includes("shut down"))).not.toHaveLength(0);
  });

  test("[LOOP-8] a tool that does not end when stopped is not waited for without limit", async () => {
    const { tab, clock } = await world([[call("A", "deaf", {}), finish("tool-calls")], fine]);
    await tab.send("go");
    await tab.until(() => wordsOf(tab.rows, { all: true }).includes("usage"));
    await clock.advance(0);
    tab.stop();
    await clock.advance(4_999);
    expect(wordsOf(tab.rows).at(-1)).toBe("call:A");
    await clock.advance(1);
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["result!:A=stopped by user", "end:stopped"]);
  });

  test("[LOOP-8] H12 what waited is held; released it is sent, one turn each", async () => {
    const { tab } = await world([three, fine, fine]);
    await tab.send("go");
    const q1 = await tab.send("one", "queue");
    const q2 = await tab.send("two", "queue");
    await tab.edit(q1, { text: "ONE" });
    await tab.edit(q2, { state: "held" });
    tab.stop();
    await tab.idle();
    expect(tab.waiting.map((message) => message.state)).toEqual(["held", "held"]);
    await tab.edit(q1, { state: "queued" });
    await tab.idle();
    expect(tab.waiting.map((message) => message.id)).toEqual([q2]);
    await tab.edit(q2, { state: "queued" });
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-6)).toEqual([
      "user:ONE",
      "text:fine",
      "end:done",
      "user:two",
      "text:fine",
      "end:done",
    ]);
    expect(tab.rows.filter((row) => row.id === q1 || row.id === q2)).toHaveLength(2);
  });

  test("[LOOP-8] H12 stop and send begins the next turn at once", async () => {
    const { tab } = await world([three, fine]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    const q = await tab.send("later", "queue");
    await tab.send("now", "stop");
    await tab.until(() => wordsOf(tab.rows).at(-1) === "end:done");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-4)).toEqual(["end:stopped", "user:now", "text:fine", "end:done"]);
    expect(tab.waiting.map(({ id, state }) => [id, state])).toEqual([[q, "held"]]);
  });
});

describe("stop one tool", () => {
  test("[LOOP-9] H25 only that call is stopped and the turn goes on", async () => {
    const { tab } = await world([[call("A", "sleep", {}), call("B", "true", {}), finish("tool-calls")], fine]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    tab.stopCall("A");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(3)).toEqual([
      "result:B=(no output)",
      "result!:A=stopped by user\nhalf",
      "text:fine",
      "end:done",
    ]);
  });

  test("[LOOP-9] also while it waits for a permission", async () => {
    const bash: FakeTool = { name: "bash", effect: "run", run: () => ok("ran") };
    const { tab } = await world([[call("A", "bash", {}), finish("tool-calls")], fine], {
      tools: [bash],
      decide: askForRuns,
    });
    await tab.send("go");
    await tab.until(() => tab.questions().length === 1);
    tab.stopCall("A");
    await tab.idle();
    expect(tab.questions()).toEqual([]);
    expect(wordsOf(tab.rows).slice(-3)).toEqual(["result!:A=stopped by user", "text:fine", "end:done"]);
  });
});

test("[LOOP-3] H25 stopped at any moment, every call has one result, the log is sound and the next message is answered", async () => {
  const answers: readonly Answer[] = [
    [...say("I look."), call("A", "true", {}), call("B", "true", {}), finish("tool-calls")],
    [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "x" },
      { type: "reasoning-end", id: "r" },
      ...say("On."),
      call("C", "sleep", {}),
      finish("tool-calls"),
    ],
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 40 }),
      fc.constantFrom("stopped" as const, "deadline" as const),
      async (acts, reason) => {
        const { tab } = await world([...answers, fine, fine, fine]);
        let seen = 0;
        await tab.send("go");
        // Each look at the condition is one act of the loop: the stop falls between two of them, or when all stands still.
        await Promise.race([tab.until(() => ++seen > acts), quiet()]);
        tab.stop(reason);
        await tab.idle();
        expect(verifyRows(tab.rows)).toEqual([]);
        const calls = tab.rows.flatMap((row) => (row.type === "tool_call" ? [row.data.callId] : []));
        const results = tab.rows.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : []));
        expect(results.toSorted()).toEqual(calls.toSorted());
        await tab.send("next");
        await quiet();
        if (tab.turnId !== null) tab.stop();
        await tab.idle();
        expect(wordsOf(tab.rows).filter((word) => word.startsWith("end:")).length).toBeGreaterThanOrEqual(2);
        expect(tab.open.size).toBe(0);
      },
    ),
    { numRuns: 100 },
  );
});

describe("killed and started again", () => {
  test("[REC-2] H14 in the middle of a tool: it is not run again, and the tab is at rest", async () => {
    const { tab, again, requests } = await world([three, fine]);
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    tab.kill();
    const back = await again();
    expect(back.turnId).toBeNull();
    expect(wordsOf(back.rows).slice(4)).toEqual([
      "result:A=(no output)",
      "result!:B=server restarted; the command may have run",
      "result!:C=server restarted; the command may have run",
      "notice:restarted",
      "end:restart",
    ]);
    await back.send("next");
    await back.idle();
    expect(requests).toHaveLength(2);
    expect(wordsOf(back.rows).slice(-2)).toEqual(["text:fine", "end:done"]);
  });

  test("[REC-4] in the middle of text: what was journaled is there, under its own id", async () => {
    const { tab, again } = await world([
      [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "half an" }, hang],
    ]);
    await tab.send("go");
    await tab.until(() => [...tab.open.values()].some((open) => open.text === "half an"));
    const [id] = tab.opened;
    tab.kill();
    const back = await again();
    expect(wordsOf(back.rows).slice(1)).toEqual(["text?:half an", "notice:restarted", "end:restart"]);
    expect(back.rows.find((row) => row.type === "text" && row.role === "assistant")?.id).toBe(id);
  });

  test("[REC-3] while a question waits: the answer given afterwards lets the turn go on", async () => {
    const bash: FakeTool = { name: "bash", effect: "run", run: () => ok("ran") };
    const { tab, again } = await world([[call("A", "bash", {}), finish("tool-calls")], fine], {
      tools: [bash],
      decide: askForRuns,
    });
    await tab.send("go");
    await tab.until(() => tab.questions().length === 1);
    tab.kill();
    const back = await again();
    await back.until(() => back.questions().length === 1);
    expect(back.rows.filter((row) => row.type === "system" && row.data.kind === "permission")).toHaveLength(1);
    await back.answer("once");
    await back.idle();
    expect(wordsOf(back.rows).slice(1)).toEqual(["call:A", "result:A=ran", "text:fine", "end:done"]);
  });

  test("[REC-6] what waited is there and held", async () => {
    const { tab, again } = await world([three]);
    await tab.send("go");
    await tab.send("q1", "queue");
    tab.kill();
    const back = await again();
    expect(back.waiting.map(({ data, state }) => [data.text, state])).toEqual([["q1", "held"]]);
  });
});
