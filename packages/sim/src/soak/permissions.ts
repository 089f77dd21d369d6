import { checkAllowed, checkWords } from "../permissions/check-permissions.ts";
import { whyNoRuns } from "../permissions/stub-runs.ts";

/**
 * Random commands from a grammar of the shell: those that the permission engine allows are really run, in bubblewrap, among
 * programs that record how they were called. `npm run soak -- permissions [--seed N] [--short]`. The last line is one JSON
 * object; the exit code is 1 when a program ran that no rule names, or got other words than were read.
 */

const RUNS = 10_000;
const SHORT_RUNS = 1_000;

function main(args: readonly string[]): number {
  const given = Number(args[args.indexOf("--seed") + 1]);
  const seed = args.includes("--seed") && Number.isSafeInteger(given) ? given : 1;
  const runs = args.includes("--short") ? SHORT_RUNS : RUNS;
  const missing = whyNoRuns();
  if (missing !== null) {
    say({ soak: "permissions", ok: true, seed, skipped: runs, why: missing });
    return 0;
  }
  const startedMs = performance.now();
  const programs = checkAllowed({ seed, runs });
  const words = checkWords({ seed, runs });
  for (const wrong of [...programs.wrong, ...words.wrong]) process.stdout.write(`${wrong}\n`);
  const ok = programs.wrong.length === 0 && words.wrong.length === 0;
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const counts = { made: programs.made, asked: programs.asked, allowed: programs.allowed, started: programs.started };
  say({ soak: "permissions", ok, seed, seconds, ...counts, static: words.made, passed: words.started });
  return ok ? 0 : 1;
}

const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

process.exitCode = main(process.argv.slice(2));
