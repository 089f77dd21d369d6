/**
 * Worlds by the thousand: `npm run soak -- world [--short] [--from N]`, on two processes. `--seed N` runs that one world again and
 * says what became of it. A world that breaks a rule is made small and kept in `packages/sim/corpus/world`. The last line is one JSON
 * object; the exit code is 1 when anything failed.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import { keepInCorpus } from "../world/corpus.ts";
import { type Plan, planOf } from "../world/plan.ts";
import { type RunResult, runPlan } from "../world/run-world.ts";
import { shrink } from "../world/shrink.ts";
import { addRun, addTally, emptyTally, type Tally } from "../world/tally.ts";

const processes = 2;
const usual = { runs: 5_200, events: 1_010_000 };
const short = { runs: 20, events: 20_000 };
/** Worlds that fail in one process; then it stops, for the fault is known. */
const failuresMax = 5;
const progressEvery = 100;

const flag = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const has = (name: string): boolean => process.argv.includes(name);
const corpus = join(process.env.VARVE_ROOT ?? process.cwd(), "packages/sim/corpus/world");

/** A promise that nobody waited for was broken: the run that it belongs to is the one under way. */
const loose: unknown[] = [];
process.on("unhandledRejection", (error) => void loose.push(error));

async function one(plan: Plan): Promise<RunResult> {
  const result = await runPlan(plan);
  const error = loose.pop();
  if (error === undefined || result.failure !== null) return result;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { ...result, failure: { rule: "loose promise", message, event: result.events } };
}

async function kept(plan: Plan, result: RunResult): Promise<string> {
  const { rule = "", message = "" } = result.failure ?? {};
  const small = await shrink(plan, async (smaller) => (await one(smaller)).failure?.rule ?? null);
  return keepInCorpus(corpus, { name: `seed-${plan.seed}`, rule, message, plan: small });
}

/** Every so manieth seed from the first on, until there were enough runs and enough events. */
async function work(first: number, enough: { readonly runs: number; readonly events: number }): Promise<Tally> {
  const tally = emptyTally();
  for (let seed = first; tally.runs < enough.runs || tally.events < enough.events; seed += processes) {
    const plan = planOf(seed);
    const result = await one(plan);
    addRun(tally, plan.scope, result);
    if (result.failure !== null) {
      const path = await kept(plan, result);
      tally.failures.push({ seed, ...result.failure, kept: path });
      console.error(`seed ${seed}, event ${result.failure.event}: ${result.failure.message}\n  kept as ${path}`);
    }
    if (tally.runs % progressEvery === 0) console.error(`${tally.runs} worlds, ${tally.events} events`);
    if (tally.failures.length >= failuresMax) break;
  }
  return tally;
}

function inProcess(first: number): Promise<Tally> {
  const child = fork(process.argv[1] ?? "", ["--work", String(first), ...(has("--short") ? ["--short"] : [])]);
  return new Promise((resolve, reject) => {
    // Our own process sends nothing but its tally.
    child.on("message", (tally: Tally) => resolve(tally));
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`a process ended early with ${code}`)));
  });
}

async function all(): Promise<void> {
  const from = Number(flag("--from") ?? 1);
  const startedMs = performance.now();
  const tallies = await Promise.all(Array.from({ length: processes }, (_, at) => inProcess(from + at)));
  const sum = emptyTally();
  for (const tally of tallies) addTally(sum, tally);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const ok = sum.failures.length === 0;
  const perSecond = Math.round(sum.events / Math.max(1, seconds));
  console.log(JSON.stringify({ soak: "world", ok, from, seconds, perSecond, violations: sum.failures.length, ...sum }));
  process.exitCode = ok ? 0 : 1;
}

async function again(seed: number): Promise<void> {
  const result = await one(planOf(seed));
  const { failure, counts, acts, ...rest } = result;
  const told = { counts: Object.fromEntries(counts), acts: Object.fromEntries(acts) };
  console.log(JSON.stringify({ soak: "world", ok: failure === null, ...rest, ...told, failure }));
  process.exitCode = failure === null ? 0 : 1;
}

const seed = flag("--seed");
const share = flag("--work");
if (share !== undefined) {
  const { runs, events } = has("--short") ? short : usual;
  const tally = await work(Number(share), { runs: runs / processes, events: events / processes });
  process.send?.(tally);
} else if (seed !== undefined) await again(Number(seed));
else await all();
