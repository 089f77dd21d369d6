/** Whatever happens at whichever moment of a compaction in a running turn, the log stays whole and the tab goes on. */
import { memoryLog, verifyRows } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { expect, test } from "vitest";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { PlainTab } from "./testing/plain-owner.ts";
import { call, say } from "./testing/script-model.ts";
import { windowModel } from "./testing/window-model.ts";
import { restartTab, startTab, unlimited, type World, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

/** Acts of the loop, from the one that begins a compaction on, that something may come between. */
const moments = [0, 1, 2, 3, 4, 5, 6];

const acts = {
  stop: async (tab: PlainTab) => tab.stop(),
  deadline: async (tab: PlainTab) => tab.stop("deadline"),
  restart: async (tab: PlainTab) => tab.stop("restart"),
  steer: (tab: PlainTab) => tab.send("BETWEEN"),
  queue: (tab: PlainTab) => tab.send("BETWEEN", "queue"),
  "stop and send": (tab: PlainTab) => tab.send("BETWEEN", "stop"),
  wish: async (tab: PlainTab) => {
    tab.compactionWish = true;
  },
  kill: async (tab: PlainTab) => tab.kill(),
} as const;
type Act = keyof typeof acts;

function world(): { readonly world: World; readonly model: ReturnType<typeof windowModel> } {
  const clock = createFakeClock();
  const model = windowModel(clock, {
    windowTokens: 4_000,
    answer: ({ asksForSummary, messages, index }) => {
      if (asksForSummary) return say("SUM");
      const isLast = index > 14 || messages.at(-1)?.includes("and again") === true;
      return isLast ? say("done") : [call(`c${index}`, "work", { n: index })];
    },
  });
  return {
    model,
    world: {
      log: memoryLog(),
      clock,
      ids: createFakeIds(),
      tools: fakeToolBox([{ name: "work", run: () => ok("r".repeat(1_000)) }]),
      models: model.models,
      spending: () => unlimited(),
      autoCompact: () => ({ on: true, share: 0.6 }),
    },
  };
}

async function comes(act: Act, moment: number): Promise<void> {
  const { world: made, model } = world();
  let tab = await startTab(made);
  await tab.send("please work");
  await tab.until(() => tab.rows.some((row) => isKind(row, "request") && row.data.purpose === "compaction"));
  let since = 0;
  await tab.until(() => since++ === moment || tab.turnId === null);
  await acts[act](tab);
  if (act === "kill") tab = await restartTab(made);
  await tab.idle();
  expect(tab.open.size).toBe(0);
  expect(verifyRows(tab.rows)).toEqual([]);
  const between = tab.rows.filter((row) => row.type === "text" && row.data.text === "BETWEEN").length;
  const waiting = tab.waiting.filter(({ data }) => data.text === "BETWEEN").length;
  expect(between + waiting).toBe(act === "steer" || act === "queue" || act === "stop and send" ? 1 : 0);
  await tab.send("and again");
  await tab.idle();
  expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:done", "end:done"]);
  expect(verifyRows(tab.rows)).toEqual([]);
  const turns = new Set(tab.rows.flatMap(({ turnId }) => (turnId === "" ? [] : [turnId])));
  expect(tab.rows.filter((row) => isKind(row, "turn-end"))).toHaveLength(turns.size);
  const last = model.seen.at(-1)?.messages.join("\n") ?? "";
  for (const words of ["please work", "and again", ...(between > 0 ? ["BETWEEN"] : [])]) {
    expect(last.split(`"${words}"`)).toHaveLength(2);
  }
}

test.each(Object.keys(acts) as readonly Act[])(
  "[AGENT-131] %s: nothing is lost, nothing stays open, and the tab goes on",
  async (act) => {
    for (const moment of moments) await comes(act, moment);
  },
);
