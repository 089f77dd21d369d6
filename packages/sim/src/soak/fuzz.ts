/**
 * Garbage against the real server for long: requests, frames, bare bytes, then files, settings and variables of a home. `npm run
 * soak -- fuzz [--short] [--seed N] [--inputs N]`. What is held after a collection is noted at rest: flat when the last fifth holds
 * at most a twentieth, or 2 MiB, over the second. The last line is one JSON object; the exit code is 1 when anything failed.
 */
import { getHeapCodeStatistics } from "node:v8";
import { runHomes } from "../fuzz/homes.ts";
import { runFuzz } from "../fuzz/run-fuzz.ts";

const usual = 100_000;
const short = 10_000;
/** One start for so many inputs; each start brings about eight more. */
const inputsAStart = 200;
const slowMs = 1_000;
const mib = 1024 * 1024;

const flag = (name: string): number | undefined => {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? Number.NaN : Number(process.argv[at + 1]);
  return Number.isSafeInteger(value) ? value : undefined;
};

const stray: string[] = [];
process.on("unhandledRejection", (error) => stray.push(`unhandled rejection: ${String(error)}`));
process.on("uncaughtException", (error) => stray.push(`uncaught exception: ${error.stack ?? error.message}`));
const seed = flag("--seed") ?? 1;
const inputs = flag("--inputs") ?? (process.argv.includes("--short") ? short : usual);
const startedMs = performance.now();

/** Code that the engine has compiled so far: rare inputs go on adding to it, and it is no data of ours. */
function compiledBytes(): number {
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  return code + bytecode;
}

const held: number[] = [];
const figures = await runFuzz({
  seed,
  inputs,
  slowMs,
  elapsed: () => performance.now(),
  tell: (line) => console.error(`before it is made smaller: ${line}`),
  atRest(done) {
    for (let round = 0; round < 2; round += 1) globalThis.gc?.();
    held.push(process.memoryUsage().heapUsed - compiledBytes());
    if (held.length % 10 === 0) console.log(`${done} inputs: ${((held.at(-1) ?? 0) / mib).toFixed(1)} MiB held`);
  },
});
/** The least that was held in each fifth: what is under way in one moment is no growth. */
const fifths = [0, 1, 2, 3, 4].map((fifth) => {
  const part = held.slice(Math.floor((held.length * fifth) / 5), Math.floor((held.length * (fifth + 1)) / 5));
  return Math.min(...part);
});
const [, second = 0, , , last = Number.POSITIVE_INFINITY] = fifths;
const flat = last <= Math.max(second * 1.05, second + 2 * mib);
const homes = await runHomes({ seed, starts: Math.ceil(inputs / inputsAStart) });

const failures = [...figures.failures, ...homes.failures, ...stray];
for (const failure of failures) console.error(failure);
const ok = failures.length === 0 && flat;
const seconds = Math.round((performance.now() - startedMs) / 1_000);
const heapMiB = fifths.map((bytes) => Math.round((bytes / mib) * 10) / 10);
console.log(
  JSON.stringify({ soak: "fuzz", ok, seed, seconds, flat, heapMiB, ...figures, homes, failures: failures.length }),
);
process.exitCode = ok ? 0 : 1;
