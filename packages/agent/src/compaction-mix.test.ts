/** Compactions, undos, restarts and turns in any order: each body is valid, extends what it should, and nothing is lost. */
import { memoryLog, verifyRows } from "@varve/log";
import { noTurn } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compactionInForce } from "./compaction/measure.ts";
import { rowMaker } from "./new-rows.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { PlainTab } from "./testing/plain-owner.ts";
import { call, say } from "./testing/script-model.ts";
import { windowModel } from "./testing/window-model.ts";
import { restartTab, startTab, unlimited, type World, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

type Act =
  | { readonly act: "turn"; readonly steps: number; readonly chars: number }
  | { readonly act: "compact" | "undo" | "undo the oldest" | "undo twice" | "restart" | "note" };

const actArb: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constant("turn" as const), steps: fc.nat(6), chars: fc.constantFrom(10, 700, 2_500) }),
  fc.record({
    act: fc.constantFrom(
      "compact" as const,
      "compact" as const,
      "undo" as const,
      "undo the oldest" as const,
      "undo twice" as const,
      "restart" as const,
      "note" as const,
    ),
  }),
);

async function play(acts: readonly Act[], auto: boolean): Promise<void> {
  const clock = createFakeClock();
  const now = { steps: 0, chars: 0 };
  const model = windowModel(clock, {
    windowTokens: 6_000,
    answer: ({ asksForSummary, index }) => {
      if (asksForSummary) return say("SUM");
      now.steps -= 1;
      return now.steps < 0 ? say("done") : [...say(`step ${index}`), call(`c${index}`, "work", { n: index })];
    },
  });
  const made: World = {
    log: memoryLog(),
    clock,
    ids: createFakeIds(),
    tools: fakeToolBox([{ name: "work", run: () => ok("r".repeat(now.chars)) }]),
    models: model.models,
    spending: () => unlimited(),
    autoCompact: () => ({ on: auto, share: 0.6 }),
  };
  const make = rowMaker(made);
  const outside = { turnId: noTurn, step: 0 };
  let tab: PlainTab = await startTab(made);
  const undo = (compactionSeq: number) => tab.seal([make.system(outside, { kind: "compaction-undo", compactionSeq })]);
  const words: string[] = [];
  let note: string | null = null;
  for (const act of [...acts, { act: "turn", steps: 1, chars: 10 } as const]) {
    const inForce = compactionInForce(tab.rows);
    switch (act.act) {
      case "turn": {
        now.steps = act.steps;
        now.chars = act.chars;
        words.push(`word-${words.length}.`);
        await tab.send(words.at(-1) ?? "");
        await tab.idle();
        expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
        const body = model.seen.at(-1)?.messages.join("\n") ?? "";
        for (const word of words) expect(body.split(word)).toHaveLength(2);
        if (note !== null) expect(body).toContain(note);
        const names = [...body.matchAll(/"type":"tool-(call|result)","toolCallId":"([^"]+)"/g)];
        const calls = names.flatMap(([, kind, id]) => (kind === "call" ? [id] : []));
        expect(names.flatMap(([, kind, id]) => (kind === "result" ? [id] : []))).toEqual(calls);
        break;
      }
      case "compact": {
        if (words.length === 0) break;
        const done = await tab.compact();
        if (done.kind === "failed") expect(done.fault.code).toBe("nothing-to-compact");
        break;
      }
      case "undo":
        if (inForce !== null) await undo(inForce.seq);
        break;
      case "undo twice":
        if (inForce === null) break;
        await undo(inForce.seq);
        await undo(inForce.seq);
        break;
      case "undo the oldest": {
        const oldest = tab.rows.find((row) => isKind(row, "compaction"));
        if (oldest !== undefined) await undo(oldest.seq);
        break;
      }
      case "restart":
        tab = await restartTab(made);
        break;
      default:
        note = `note ${tab.rows.length}.`;
        await tab.seal([make.system(outside, { kind: "note", topic: "mode", text: note })]);
    }
    expect(verifyRows(tab.rows)).toEqual([]);
  }
}

test("[AGENT-132] compactions, undos, restarts and turns in any order", async () => {
  await fc.assert(fc.asyncProperty(fc.array(actArb, { minLength: 2, maxLength: 12 }), fc.boolean(), play), {
    numRuns: Number(process.env.COMPACTION_RUNS ?? 25),
  });
}, 120_000);
