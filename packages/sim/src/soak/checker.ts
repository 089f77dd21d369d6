/**
 * Every state of every scope, with all rules of the protocol in force; then, for each rule, the search for what its absence
 * breaks. `npm run soak -- checker [--short] [--write] [--scope NAME]`; `--short` ends large scopes early, `--write`
 * stores the counter-examples that were found, `--scope` takes only the scopes of such a name, or with `rules` only the
 * rules. There is no randomness. The last line is one JSON object; the exit code is 1 when anything failed.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ablations } from "../checker/ablations.ts";
import { exhaust, findCounterExample, invariantOf } from "../checker/prove.ts";
import { scopes } from "../checker/scopes.ts";

/** A scope of which more states are known than these is large: `--short` does not finish it. */
const SHORT_STATES = 8_000;

const isShort = process.argv.includes("--short");
const writes = process.argv.includes("--write");
const only = process.argv.includes("--scope") ? process.argv[process.argv.indexOf("--scope") + 1] : undefined;
const folder = join(process.env.VARVE_ROOT ?? process.cwd(), "packages/sim/src/checker/counter-examples");

const cpuSeconds = (): number => process.cpuUsage().user / 1e6;
let [states, failed, exhausted] = [0, 0, 0];
const startedMs = performance.now();

for (const scope of scopes.filter(({ name }) => only === undefined || name.includes(only))) {
  const from = cpuSeconds();
  const end = exhaust(scope, isShort ? SHORT_STATES : undefined);
  const seconds = Number((cpuSeconds() - from).toFixed(1));
  const { depth, steps, violation } = end;
  states += end.states;
  if (end.exhausted) exhausted += 1;
  const isBad = violation !== null || (!end.exhausted && !isShort);
  if (isBad) failed += 1;
  console.log(
    JSON.stringify({
      scope: scope.name,
      states: end.states,
      steps,
      depth,
      exhausted: end.exhausted,
      seconds,
      violation,
    }),
  );
}

let longest = 0;
for (const ablation of only === undefined || only === "rules" ? ablations : []) {
  const found = findCounterExample(ablation);
  const isGood = found !== null && invariantOf(found.problem) === ablation.breaks;
  if (!isGood) failed += 1;
  longest = Math.max(longest, found?.trace.length ?? 0);
  console.log(
    JSON.stringify({ without: ablation.rule, steps: found?.trace.length ?? null, problem: found?.problem ?? null }),
  );
  if (writes && found !== null)
    writeFileSync(join(folder, `${ablation.rule}.json`), `${JSON.stringify(found, null, 2)}\n`);
}

const seconds = Math.round((performance.now() - startedMs) / 1000);
const ok = failed === 0;
console.log(
  JSON.stringify({
    soak: "checker",
    ok,
    seconds,
    scopes: scopes.length,
    exhausted,
    states,
    rules: ablations.length,
    longest,
  }),
);
process.exitCode = ok ? 0 : 1;
