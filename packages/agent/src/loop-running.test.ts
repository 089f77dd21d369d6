import { memoryLog } from "@varve/log";
import { createFakeClock, createFakeIds, settle } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { turnLimits } from "./limits.ts";
import { type FakeTool, fakeToolBox, ok, untilStopped } from "./testing/fake-tools.ts";
import type { Answer } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { allowAll, askForRuns, startTab, wordsOf } from "./testing/world.ts";

/** Tools whose calls end when the test says so; `job` hands in a way to move it. */
function held() {
  const ends = new Map<string, (text: string) => void>();
  const run: FakeTool["run"] = ({ callId, canMove }) =>
    new Promise((resolve) => {
      const end = (text: string): void => resolve(ok(text));
      ends.set(callId, end);
      canMove?.(() => {
        end("continues as job 1");
        return true;
      });
    });
  const tools: readonly FakeTool[] = [
    { name: "job", run },
    { name: "asked", effect: "run", run },
    { name: "locked", run, lock: () => "file" },
    { name: "sleep", run: (one) => untilStopped(one) },
    { name: "deaf", run: () => new Promise(() => undefined) },
    { name: "throws", run: () => Promise.reject(new Error("broken")) },
    { name: "question", effect: "ask", run: async (one) => ok((await one.ask("Which?", [])) ?? "none") },
  ];
  return { ends, tools };
}

async function world(answers: readonly Answer[], options: { asks?: boolean } = {}) {
  const clock = createFakeClock();
  const { ends, tools } = held();
  const { models } = scriptModel(clock, answers);
  const decide = options.asks === true ? askForRuns : allowAll;
  const made = { log: memoryLog(), clock, ids: createFakeIds(), tools: fakeToolBox(tools), models, decide };
  const tab = await startTab(made);
  const running = (): readonly string[] => [...tab.running].map(([callId, { name }]) => `${callId}:${name}`);
  return { clock, ends, tab, running };
}
const fine: Answer = [...say("fine"), finish()];
async function quiet(): Promise<void> {
  for (let round = 0; round < 5; round++) await settle();
}

describe("tools that run", () => {
  test("[LOOP-120] are told of in the order in which they began, until each has its result", async () => {
    const calls: Answer = [call("A", "job", {}), call("B", "job", {}), finish("tool-calls")];
    const { tab, running, ends } = await world([calls, fine]);
    await tab.send("go");
    await tab.until(() => tab.running.size === 2);
    expect(running()).toEqual(["A:job", "B:job"]);
    await quiet();
    ends.get("A")?.("a");
    await tab.until(() => tab.running.size === 1);
    expect(running()).toEqual(["B:job"]);
    ends.get("B")?.("b");
    await tab.idle();
    expect(running()).toEqual([]);
  });

  test("[LOOP-120] one that waits for a permission, and one that waits for a lock, does not run", async () => {
    const calls: Answer = [
      call("A", "asked", {}),
      call("B", "locked", {}),
      call("C", "locked", {}),
      finish("tool-calls"),
    ];
    const { tab, running, ends } = await world([calls, fine], { asks: true });
    await tab.send("go");
    await tab.until(() => tab.questions().length === 1 && tab.running.size > 0);
    await quiet();
    expect(running()).toEqual(["B:locked"]);
    await tab.answer("once");
    await tab.until(() => tab.running.size === 2);
    await quiet();
    ends.get("B")?.("b");
    await tab.until(() => running().includes("C:locked"));
    expect(running()).toEqual(["A:asked", "C:locked"]);
    await quiet();
    for (const id of ["A", "C"]) ends.get(id)?.(id);
    await tab.idle();
  });

  test("[LOOP-120] one that finds no place does not run", async () => {
    const ids = Array.from({ length: turnLimits.parallelCallsMax + 1 }, (_, at) => `c${at}`);
    const calls: Answer = [...ids.map((id) => call(id, "job", {})), finish("tool-calls")];
    const { tab, running, ends } = await world([calls, fine]);
    await tab.send("go");
    await tab.until(() => tab.running.size === turnLimits.parallelCallsMax);
    await quiet();
    expect(running()).not.toContain(`${ids.at(-1)}:job`);
    ends.get("c0")?.("done");
    await tab.until(() => running().includes(`${ids.at(-1)}:job`));
    await quiet();
    for (const id of ids) ends.get(id)?.("done");
    await tab.idle();
  });

  test.each(["sleep", "deaf", "throws"])(
    "[LOOP-120] %s is not told of any more once it has ended or was given up",
    async (name) => {
      const calls: Answer = [call("A", name, {}), finish("tool-calls")];
      const { tab, running, clock } = await world([calls, fine]);
      await tab.send("go");
      if (name !== "throws") {
        await tab.until(() => tab.running.size === 1);
        tab.stopCall("A");
        await quiet();
        await clock.advance(turnLimits.toolStopMs);
      }
      await tab.idle();
      expect(running()).toEqual([]);
      expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
    },
  );

  test("[LOOP-120] a question to a person is no tool that runs", async () => {
    const { tab, running } = await world([[call("A", "question", {}), finish("tool-calls")], fine]);
    await tab.send("go");
    await tab.until(() => tab.questions().length === 1);
    expect(running()).toEqual([]);
    await tab.say("blue");
    await tab.idle();
  });

  test("[LOOP-120] one that is moved ends its step, and the steer that waited is delivered", async () => {
    const { tab } = await world([[call("A", "job", {}), finish("tool-calls")], fine]);
    await tab.send("go");
    await tab.until(() => tab.running.get("A")?.move !== null && tab.running.size === 1);
    await tab.send("hurry");
    expect(tab.running.get("A")?.move?.()).toBe(true);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "call:A",
      "result:A=continues as job 1",
      "user:hurry",
      "text:fine",
      "end:done",
    ]);
  });
});
