import { memoryLog, verifyRows } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { unknownFacts } from "./model/facts.ts";
import type { Spending } from "./ports.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { Answer } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { restartTab, startTab, unlimited, type World, wordsOf } from "./testing/world.ts";
import { openQuestions } from "./turn-rows.ts";

const free = { input: 0, output: 0, read: 0, write5m: 0, write1h: 0 };
const echoed = (id: string): Answer => [call(id, "echo", {}), finish("tool-calls")];
const job = (steps: number): readonly Answer[] => [
  ...Array.from({ length: steps }, (_, index) => echoed(`c${index}`)),
  [...say("done"), finish()],
];

function world(answers: readonly Answer[], spending: () => Spending, priced = true) {
  const clock = createFakeClock();
  const facts = { ...unknownFacts, prices: priced ? { ...free, tiers: [] } : null };
  const model = scriptModel(clock, answers, { facts });
  const tools = fakeToolBox([{ name: "echo", run: () => ok("ok") }]);
  const made: World = { log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models, spending };
  return { made, requests: model.requests };
}

const start = async (answers: readonly Answer[], spending: () => Spending, priced = true) => {
  const { made, requests } = world(answers, spending, priced);
  return { tab: await startTab(made), made, requests };
};
const limited = (words: readonly string[]) => words.filter((word) => !/^(call|result|user:go)/.test(word));

describe("a turn at its limit", () => {
  test("[AGENT-110] waits with a question and sends nothing; what is done stays", async () => {
    const { tab, requests } = await start(job(9), () => unlimited(3));
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    expect(requests).toHaveLength(3);
    expect(tab.turnId).not.toBeNull();
    expect(openQuestions(tab.rows, tab.turnId ?? expect.fail("a turn"))).toHaveLength(1);
    expect(tab.questions()[0]?.data).toMatchObject({ kind: "limit", limit: "turn-steps", used: 3, max: 3 });
    expect(wordsOf(tab.rows).at(-1)).toBe("result:c2=ok");
  });

  test("[AGENT-102] goes on as far again, asks again, and ends when the work is done", async () => {
    const { tab, requests } = await start(job(7), () => unlimited(3));
    await tab.send("go");
    for (const requestsSoFar of [3, 6]) {
      await tab.until(() => tab.questions().length > 0);
      expect(requests).toHaveLength(requestsSoFar);
      await tab.answerLimit("go-on");
    }
    await tab.idle();
    expect(limited(wordsOf(tab.rows))).toEqual(["text:done", "end:done"]);
    expect(requests).toHaveLength(8);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-102] a raised limit holds at once", async () => {
    let stepsMax = 2;
    const { tab, requests } = await start(job(5), () => unlimited(stepsMax));
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    stepsMax = 10;
    await tab.answerLimit("raise", 10);
    await tab.idle();
    expect(requests).toHaveLength(6);
    expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
  });

  test("[AGENT-104] stop ends it with everything kept and what waits held", async () => {
    const { tab, requests } = await start(job(5), () => unlimited(2));
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    await tab.send("later", "queue");
    await tab.answerLimit("stop");
    await tab.idle();
    expect(requests).toHaveLength(2);
    expect(limited(wordsOf(tab.rows))).toEqual(["end:stopped"]);
    expect(tab.waiting.map(({ state }) => state)).toEqual(["held"]);
  });

  test("[AGENT-110] a stop while it waits ends the turn; the next message is answered", async () => {
    const { tab } = await start([...job(2).slice(0, 2), [...say("new"), finish()]], () => unlimited(2));
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    tab.stop();
    await tab.idle();
    expect(wordsOf(tab.rows).at(-1)).toBe("end:stopped");
    await tab.send("again");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-3)).toEqual(["user:again", "text:new", "end:done"]);
  });

  test("[AGENT-110] a deadline or the server's end while it waits is the end's reason", async () => {
    for (const reason of ["deadline", "restart"] as const) {
      const { tab } = await start(job(5), () => unlimited(2));
      await tab.send("go");
      await tab.until(() => tab.questions().length > 0);
      tab.stop(reason);
      await tab.idle();
      expect(wordsOf(tab.rows).at(-1)).toBe(`end:${reason}`);
    }
  });

  test("[AGENT-106] a steer that came while it waited joins when it goes on", async () => {
    const { tab, requests } = await start([echoed("A"), [...say("ok"), finish()]], () => unlimited(1));
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    await tab.send("this too", "steer");
    expect(wordsOf(tab.rows)).not.toContain("user:this too");
    await tab.answerLimit("go-on");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "call:A", "result:A=ok", "user:this too", "text:ok", "end:done"]);
    expect(JSON.stringify(requests[1]?.prompt)).toContain("this too");
  });

  test("[AGENT-100] money: the tab with its children, and the day", async () => {
    let price = 0;
    const spending = (): Spending => ({ ...unlimited(), tab: { price, unpriced: 0, max: 1 } });
    const { tab, requests } = await start(job(5), spending);
    await tab.send("go");
    await tab.until(() => requests.length === 2);
    price = 1.2;
    await tab.until(() => tab.questions().length > 0);
    expect(tab.questions()[0]?.data).toMatchObject({ limit: "tab-money", used: 1.2, max: 1 });
    await tab.answerLimit("stop");
    await tab.idle();
  });

  test("[AGENT-105] where the price is unknown a person is asked once", async () => {
    const spending = (): Spending => ({ ...unlimited(), day: { price: 0, unpriced: 0, max: 5 } });
    const { tab, requests } = await start(job(3), spending, false);
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    expect(requests).toHaveLength(0);
    expect(tab.questions()[0]?.data).toMatchObject({ limit: "price-unknown", max: 5 });
    await tab.answerLimit("go-on");
    await tab.idle();
    expect(requests).toHaveLength(4);
  });
});

describe("a restart at a limit", () => {
  const killedAtLimit = async () => {
    const { made, requests } = world(job(5), () => unlimited(2));
    const killed = await startTab(made);
    await killed.send("go");
    await killed.until(() => killed.questions().length > 0);
    const before = killed.rows.length;
    killed.kill();
    const tab = await restartTab(made);
    return { tab, requests, before };
  };

  test("[AGENT-107] finds the turn open and waiting, and an answer goes on with it", async () => {
    const { tab, requests, before } = await killedAtLimit();
    await tab.until(() => tab.questions().length > 0);
    expect(tab.rows).toHaveLength(before);
    expect(requests).toHaveLength(2);
    await tab.answerLimit("go-on");
    await tab.until(() => tab.questions().length > 0);
    expect(requests).toHaveLength(4);
    await tab.answerLimit("go-on");
    await tab.idle();
    expect(limited(wordsOf(tab.rows))).toEqual(["text:done", "end:done"]);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-107] a stop ends it there", async () => {
    const { tab } = await killedAtLimit();
    await tab.until(() => tab.questions().length > 0);
    await tab.answerLimit("stop");
    await tab.idle();
    expect(limited(wordsOf(tab.rows))).toEqual(["end:stopped"]);
  });
});
