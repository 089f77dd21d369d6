/**
 * The wire under fire for long: random logs through the real provider package of every profile, each body under the vendor's
 * rules. `npm run soak -- wire [--short] [--seed N]`. The last line is one JSON object; the exit code is 1 when anything failed.
 */
import { type Adapter, adapters, type FuzzFigures, fuzz, olderAdapters } from "@varve/wire/fuzz";
import { wireProblemOf } from "../wire-problem.ts";

/** Requests of each profile; forms for models of another age get a quarter. */
const usual = 10_000;
const short = 2_000;
const shownMax = 5;

const flag = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seed = Number(flag("--seed") ?? 1);
const requests = process.argv.includes("--short") ? short : usual;

interface Line {
  readonly profile: string;
  readonly requests: number;
  readonly compared: number;
  readonly prefixViolations: number;
  readonly invalid: number;
  readonly warnings: number;
}

async function one(adapter: Adapter, count: number): Promise<Line> {
  const figures = await fuzz({ adapter, problem: wireProblemOf(adapter.target.profile), seed, requests: count });
  for (const what of wrong(figures).slice(0, shownMax)) console.error(what);
  const { compared, prefixViolations, invalid, warnings } = figures;
  const line = {
    profile: adapter.name,
    requests: figures.requests,
    compared,
    prefixViolations: prefixViolations.length,
    invalid: invalid.length,
    warnings: warnings.length,
  };
  console.log(`${line.profile}: ${line.requests} requests, ${compared} compared, ${wrong(figures).length} wrong`);
  return line;
}

const wrong = ({ prefixViolations, invalid, warnings }: FuzzFigures): readonly string[] => [
  ...prefixViolations.map((where) => `prefix violation: ${where}`),
  ...invalid.map((what) => `invalid body: ${what}`),
  ...warnings.map((what) => `warning: ${what}`),
];

const startedMs = performance.now();
const lines: Line[] = [];
for (const adapter of adapters) lines.push(await one(adapter, requests));
for (const adapter of olderAdapters) lines.push(await one(adapter, Math.ceil(requests / 4)));
const failed = lines.some((line) => line.prefixViolations + line.invalid + line.warnings > 0);
const seconds = Math.round((performance.now() - startedMs) / 1000);
console.log(JSON.stringify({ soak: "wire", ok: !failed, seed, seconds, profiles: lines }));
process.exitCode = failed ? 1 : 0;
