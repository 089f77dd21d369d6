import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readCorpus } from "./corpus.ts";
import { type Plan, planOf, scopes } from "./plan.ts";
import { type RunResult, runPlan } from "./run-world.ts";
import { shrink } from "./shrink.ts";
import { tamperings } from "./tampering.ts";

const corpus = fileURLToPath(new URL("../../corpus/world", import.meta.url));
/** Scheduled events of the short form, and the seed that it begins with. */
const eventsLeast = 20_000;
const firstSeed = 1;

const again = (seed: number): string => `again: npm run soak -- world --seed ${seed}`;
const wellOf = ({ failure, seed }: RunResult): string =>
  failure === null ? "well" : `${failure.message} (event ${failure.event}; ${again(seed)})`;

describe("a world", () => {
  test("[SIM-40] what once broke a rule breaks none any more", async () => {
    for (const entry of readCorpus(corpus)) {
      const result = await runPlan(entry.plan);
      expect(`${entry.name}: ${wellOf(result)}`).toBe(`${entry.name}: well`);
    }
  });

  test("[SIM-41] of one seed is the same world, event for event", async () => {
    const [one, other, next] = [await runPlan(planOf(6)), await runPlan(planOf(6)), await runPlan(planOf(8))];
    expect({ ...other, counts: [...other.counts] }).toEqual({ ...one, counts: [...one.counts] });
    expect(next.hash).not.toBe(one.hash);
  });

  test("[SIM-42] keeps every promise through 20,000 events, and comes to rest with every message answered", async () => {
    const counts = new Map<string, number>();
    let [events, runs] = [0, 0];
    for (let seed = firstSeed; events < eventsLeast; seed += 1) {
      const result = await runPlan(planOf(seed));
      expect(wellOf(result)).toBe("well");
      for (const [kind, count] of result.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
      events += result.events;
      runs += 1;
    }
    const told = [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${kind} ${count}`);
    console.info(`${runs} worlds, ${events} events: ${told.join(", ")}`);
    expect(runs).toBeGreaterThan(10);
  }, 120_000);

  test("[SIM-43] on the real file keeps them as well", async () => {
    const plans = [7, 47].map((seed): Plan => ({ ...planOf(seed), storage: "sqlite" }));
    for (const plan of plans) expect(wellOf(await runPlan(plan))).toBe("well");
  });

  test("[SIM-44] is made of every act and every fault", () => {
    const acts = new Set(
      Array.from({ length: 300 }, (_, seed) => planOf(seed)).flatMap((plan) => plan.steps.map(({ act }) => act)),
    );
    expect([...acts].sort()).toEqual([...new Set([...Object.keys(scopes.all), ...Object.keys(scopes.crashes)])].sort());
  });
});

/** Worlds that are tried for each, and the rule that one of them breaks. */
const triesMax = 12;
const teeth: Readonly<Record<keyof typeof tamperings, readonly [firstSeed: number, rule: string]>> = {
  "what waits is not held behind a stop": [2, "H12"],
  "a write that failed is told as done": [15, "broke"],
  "a message changes its id": [1, "S3"],
  "a term comes again behind a restore": [29, "terms"],
  "an unfinished turn is left as it is": [3, "turn-end"],
  "pages have holes": [1, "digest"],
  "the outbox of a page forgets": [1, "own"],
};

describe("what a world finds", () => {
  test.each(Object.keys(tamperings))("[SIM-45] %s", async (name) => {
    const [first, rule] = teeth[name] ?? [0, ""];
    let found: string | undefined;
    for (let seed = first; seed < first + triesMax && found === undefined; seed += 1) {
      found = (await runPlan(planOf(seed), tamperings[name]?.())).failure?.rule;
    }
    expect(found).toBe(rule);
  });

  test("[SIM-46] is made small: what is left breaks the same rule with a part of the steps", async () => {
    const breaks = async (plan: Plan): Promise<string | null> => {
      const result = await runPlan(plan, tamperings["a message changes its id"]?.());
      return result.failure?.rule ?? null;
    };
    const plan = planOf(1);
    const small = await shrink(plan, breaks);
    expect(small.steps.length).toBeLessThanOrEqual(2);
    expect(plan.steps.length).toBeGreaterThan(10);
    expect(await breaks(small)).toBe("S3");
  }, 60_000);
});
