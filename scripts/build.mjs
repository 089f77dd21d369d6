import { buildTarget } from "./lib/build.mjs";
import { buildPlan } from "./lib/build-plan.mjs";

// Builds what is stale, or the targets named as arguments. Started by ensure.mjs as a process of its own, so that the
// server that `npm start` becomes never carries the compilers in its memory.
const named = process.argv.slice(2);
try {
  const plan = buildPlan();
  for (const target of plan.stale) {
    if (named.length === 0 || named.includes(target.name)) await buildTarget(target);
  }
} catch (error) {
  process.stderr.write(`The build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// A compiler that left a worker or watcher behind must not keep the start waiting.
process.exit();
