/**
 * Real pages, real sockets, a network that fails: seeded programs, one after the other, for ten minutes.
 * `npm run soak -- proxy [--short] [--seed N] [--programs N]`. A failing program is played again from its beginning with
 * fewer acts until the shortest that fails is found; its seed and length are printed. The last line is one JSON object.
 */
import { launchBrowser } from "../e2e/browser.ts";
import { PageWorld, type RunReport } from "../proxy/page-run.ts";

const usualMs = 10 * 60_000;
const shortMs = 60_000;
const acts = 120;
/** Replays that the search for a shorter program may take. */
const replaysMax = 8;

const flag = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const firstSeed = Number(flag("--seed") ?? 1);
const programsMax = Number(flag("--programs") ?? Number.POSITIVE_INFINITY);
const length = Number(flag("--acts") ?? acts);
const budgetMs = process.argv.includes("--short") ? shortMs : usualMs;

const browser = await launchBrowser();

/** A world that has failed may be broken in more ways than one: the next program gets a new one. */
async function inNewWorld(seed: number, length: number): Promise<RunReport> {
  await using world = await PageWorld.start(browser);
  return await world.run(seed, length);
}

/** The shortest beginning of the program that still fails, by halving; not every failure comes again. */
async function shorten(seed: number): Promise<{ readonly acts: number; readonly problems: readonly string[] } | null> {
  let [passes, fails] = [0, length];
  let found: readonly string[] | null = null;
  for (let replays = 0; replays < replaysMax && fails - passes > 1; replays += 1) {
    const middle: number = found === null && replays === 0 ? fails : (passes + fails) >> 1;
    const { problems } = await inNewWorld(seed, middle);
    if (problems.length > 0) [fails, found] = [middle, problems];
    else if (middle === length) return null;
    else passes = middle;
  }
  return found === null ? null : { acts: fails, problems: found };
}

const startedMs = performance.now();
const totals = { programs: 0, acts: 0, done: 0, sent: 0, rows: 0 };
const failures: { readonly seed: number; readonly acts: number; readonly problems: readonly string[] }[] = [];
let world = await PageWorld.start(browser);
for (let seed = firstSeed; totals.programs < programsMax && performance.now() - startedMs < budgetMs; seed += 1) {
  const report = await world.run(seed, length).catch((error: unknown): RunReport => {
    const problems = [`the program did not come to its end: ${String(error)}`];
    return { acts: 0, done: 0, sent: 0, rows: 0, problems };
  });
  totals.programs += 1;
  for (const name of ["acts", "done", "sent", "rows"] as const) totals[name] += report[name];
  if (report.problems.length === 0) continue;
  console.error(`seed ${seed}: ${report.problems.join("\n  ")}`);
  await world[Symbol.asyncDispose]();
  const shorter = await shorten(seed).catch(() => null); // Then the whole program stands for itself.
  failures.push({ seed, ...(shorter ?? { acts: length, problems: report.problems }) });
  console.error(`seed ${seed}: ${shorter === null ? "it does not fail again" : `${shorter.acts} acts suffice`}`);
  world = await PageWorld.start(browser);
}
await world[Symbol.asyncDispose]();
await browser.close();
const seconds = Math.round((performance.now() - startedMs) / 1000);
console.log(
  JSON.stringify({ soak: "proxy", ok: failures.length === 0, seed: firstSeed, seconds, ...totals, failures }),
);
process.exitCode = failures.length > 0 ? 1 : 0;
