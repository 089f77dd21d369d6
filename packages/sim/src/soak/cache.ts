import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { policies, scoreSeeds } from "../cache/policies.ts";

/**
 * What each placement of breakpoints reads of what it could, over many scripted tabs; then the long forms of the tests
 * that send real bodies: 500 random logs, and six whole days for each profile. `npm run soak -- cache [--short]
 * [--seed N]`; `--short` leaves the tests out. The last line is one JSON object; the exit code is 1 when anything failed.
 */

const SEEDS = 400;
const SIZE = { tabs: 4, requests: 92 };
const GROUNDS = [
  ["normal, runs collapse", { ...SIZE, bursts: 0.05 }, "collapsed"],
  ["normal, strict", { ...SIZE, bursts: 0.05 }, "strict"],
  ["35 % bursts, strict", { ...SIZE, bursts: 0.35 }, "strict"],
] as const;
const LONG_TESTS = ["packages/wire/src/economy-seeds.test.ts", "packages/server/src/workspace/cache-day.test.ts"];

async function main(args: readonly string[]): Promise<number> {
  const isShort = args.includes("--short");
  const from = Number(args[args.indexOf("--seed") + 1] ?? 1);
  const first = args.includes("--seed") && Number.isInteger(from) ? from : 1;
  const seeds = Array.from({ length: SEEDS }, (_, at) => first + at);
  const startedMs = performance.now();
  const wrong = placements(seeds);
  const failed = isShort ? 0 : await longTests();
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const ok = wrong === 0 && failed === 0;
  process.stdout.write(`${JSON.stringify({ soak: "cache", ok, seed: first, seconds, wrong })}\n`);
  return ok ? 0 : 1;
}

/** Prints a table; counts the cells of our own placements in which a request read less than it could. */
function placements(seeds: readonly number[]): number {
  let wrong = 0;
  for (const [ground, options, positions] of GROUNDS) {
    for (const [name, policy] of Object.entries(policies)) {
      const { requests, short, ratio } = scoreSeeds(seeds, options, { policy, positions });
      process.stdout.write(
        `${JSON.stringify({ ground, policy: name, seeds: seeds.length, requests, short, ratio })}\n`,
      );
      if (name.startsWith("S + ") && (short > 0 || ratio !== 1)) wrong += 1;
    }
  }
  return wrong;
}

function longTests(): Promise<number> {
  const root = process.env.VARVE_ROOT ?? process.cwd();
  const vitest = join(dirname(createRequire(join(root, "package.json")).resolve("vitest/package.json")), "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", ...LONG_TESTS], {
    cwd: root,
    env: { ...process.env, SOAK: "1" },
    stdio: "inherit",
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

process.exitCode = await main(process.argv.slice(2));
