import { runProgram } from "./lib/programs.mjs";

// `npm run live -- [PROVIDER] [--yes] ...`: the checks of docs/LIVE-KEYS.md against real accounts. Without a key or --yes it
// only says what it would send and cost.
const { ensure } = await import("./ensure.mjs");
await ensure({ dev: true, say: (line) => process.stderr.write(`${line}\n`) });
process.exitCode = await runProgram({
  file: "packages/sim/src/live/main.ts",
  name: "live",
  args: process.argv.slice(2),
});
