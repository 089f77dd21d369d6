/**
 * The real server, killed a thousand times under agents at work and posting clients: `npm run soak -- kill [--short]
 * [--seed N] [--kills N]`. The last line is one JSON object; the exit code is 1 when anything was lost, doubled or broken.
 */
import { runKills } from "../kill/kill-loop.ts";

const usual = 1_000;
const short = 20;
const shownMax = 20;

const flag = (name: string): number | undefined => {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? Number.NaN : Number(process.argv[at + 1]);
  return Number.isSafeInteger(value) ? value : undefined;
};

const startedMs = performance.now();
const seed = flag("--seed") ?? 1;
const kills = flag("--kills") ?? (process.argv.includes("--short") ? short : usual);
const report = await runKills({ seed, kills, tell: (line) => console.error(line) });
for (const violation of report.violations.slice(0, shownMax)) console.error(violation);
const seconds = Math.round((performance.now() - startedMs) / 1_000);
const ok = report.violations.length === 0;
console.log(JSON.stringify({ soak: "kill", ok, seconds, ...report, violations: report.violations.length }));
process.exitCode = ok ? 0 : 1;
