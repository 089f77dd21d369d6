import { memoryLog } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { expect, test } from "vitest";
import type { Decide } from "./permission/decide-contract.ts";
import { type FakeTool, fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { Answer } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { askForRuns, restartTab, startTab, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

const bash: FakeTool = { name: "bash", effect: "run", run: () => ok("ran") };
const asking: FakeTool = {
  name: "ask",
  effect: "ask",
  run: async (run) => ok((await run.ask("Which one?", ["a", "b"])) ?? "nobody"),
};
const fine: Answer = [...say("fine"), finish()];
const runs = (...ids: readonly string[]): Answer => [
  ...ids.map((id) => call(id, "bash", { command: "ls" })),
  finish("tool-calls"),
];

async function world(answers: readonly Answer[], decide: Decide = askForRuns) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers);
  const tools = fakeToolBox([bash, asking]);
  const tab = await startTab({ log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models, decide });
  return { tab, requests: model.requests };
}

test("[LOOP-11] a question is a durable row, and the call runs once it is answered", async () => {
  const { tab } = await world([runs("A"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  expect(tab.questions()[0]?.data).toMatchObject({ callId: "A", state: "asked", subject: { tool: "bash" } });
  await tab.answer("once");
  await tab.idle();
  expect(wordsOf(tab.rows, { all: true }).slice(3)).toEqual([
    "request",
    "call:A",
    "usage",
    "permission",
    "permission",
    "result:A=ran",
    "request",
    "text:fine",
    "usage",
    "end:done",
  ]);
});

test("[LOOP-11] deny and say why: the text is the call's error result and the turn goes on", async () => {
  const { tab, requests } = await world([runs("A"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  await tab.answer("deny", "use pnpm, not npm");
  await tab.idle();
  expect(wordsOf(tab.rows).slice(2)).toEqual(["result!:A=use pnpm, not npm", "text:fine", "end:done"]);
  expect(JSON.stringify(requests[1]?.prompt)).toContain("use pnpm, not npm");
});

test("[LOOP-11] a plain refusal says that a person refused", async () => {
  const { tab } = await world([runs("A"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  await tab.answer("deny");
  await tab.idle();
  expect(wordsOf(tab.rows)[2]).toBe("result!:A=refused by the user");
});

test("[LOOP-11] once means once, for this tab means from then on", async () => {
  const { tab } = await world([runs("A"), runs("B"), runs("C"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  await tab.answer("once");
  await tab.until(() => tab.questions().length === 1);
  await tab.answer("tab");
  await tab.idle();
  const asked = tab.rows.filter((row) => isKind(row, "permission") && row.data.state === "asked");
  expect(asked).toHaveLength(2);
  expect(wordsOf(tab.rows).filter((word) => word.startsWith("result:"))).toHaveLength(3);
});

test("[LOOP-11] two calls ask side by side, each has its own answer", async () => {
  const { tab } = await world([runs("A", "B"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 2);
  await tab.answer("deny", "no");
  await tab.answer("once");
  await tab.idle();
  const results = wordsOf(tab.rows).filter((word) => word.startsWith("result"));
  expect(results.toSorted()).toEqual(["result!:A=no", "result:B=ran"]);
});

test.each([
  { was: true, is: false, asked: 2, words: "in a sandbox says nothing of the command without one: it is asked anew" },
  { was: true, is: true, asked: 1, words: "in a sandbox is the same question where there still is one" },
  { was: false, is: true, asked: 1, words: "without a sandbox holds in one" },
])("[LOOP-11] after a restart, what was asked about a command $words", async ({ was, is, asked }) => {
  const clock = createFakeClock();
  const box = { on: was };
  const ran: boolean[] = [];
  const inBox: FakeTool = {
    ...bash,
    sandboxed: () => box.on,
    run: () => {
      ran.push(box.on);
      return ok("ran");
    },
  };
  const tools = fakeToolBox([inBox]);
  const { models } = scriptModel(clock, [runs("A"), fine]);
  const made = { log: memoryLog(), clock, ids: createFakeIds(), tools, models, decide: askForRuns };
  const tab = await startTab(made);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  tab.kill();
  box.on = is;
  const back = await restartTab(made);
  await back.until(() => back.questions().length === 1);
  expect(back.rows.filter((row) => isKind(row, "permission") && row.data.state === "asked")).toHaveLength(asked);
  expect(ran).toEqual([]);
  await back.answer("once");
  await back.idle();
  expect(ran).toEqual([is]);
});

test("[LOOP-11] what the rules deny is not asked; the reason is the result", async () => {
  const { tab } = await world([runs("A"), fine], () => ({ decision: "deny", reason: "this tab is read only" }));
  await tab.send("go");
  await tab.idle();
  expect(wordsOf(tab.rows)[2]).toBe("result!:A=this tab is read only");
  expect(tab.rows.some((row) => isKind(row, "permission"))).toBe(false);
});

test("[LOOP-11] the rules are asked when a call is about to run: a change of mode holds in mid-turn", async () => {
  let mode: "deny" | "allow" = "allow";
  const decide: Decide = () =>
    mode === "allow" ? { decision: "allow" } : { decision: "deny", reason: "read only now" };
  const { tab } = await world([runs("A"), runs("B"), fine], decide);
  await tab.send("go");
  await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
  mode = "deny";
  await tab.idle();
  expect(wordsOf(tab.rows).filter((word) => word.startsWith("result"))).toEqual([
    "result:A=ran",
    "result!:B=read only now",
  ]);
});

test("[LOOP-11] the ask tool waits for a person's words", async () => {
  const { tab } = await world([[call("A", "ask", {}), finish("tool-calls")], fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  expect(tab.questions()[0]?.data).toMatchObject({ kind: "ask", question: "Which one?", options: ["a", "b"] });
  await tab.say("the second");
  await tab.idle();
  expect(wordsOf(tab.rows)[2]).toBe("result:A=the second");
});

test("[LOOP-8] a stop while a question waits ends the turn, and the call says so", async () => {
  const { tab } = await world([runs("A"), fine]);
  await tab.send("go");
  await tab.until(() => tab.questions().length === 1);
  tab.stop();
  await tab.idle();
  expect(wordsOf(tab.rows).slice(2)).toEqual(["result!:A=stopped by user", "end:stopped"]);
});
