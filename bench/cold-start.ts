import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { median, rounded } from "./lib/statistics.ts";

// How long `node bin/varve.mjs` takes until it says that it listens, over what a bare Node takes to start and end. Both
// are measured in turn, so that a busy machine slows both; medians, because one slow disk access is no property of either.

const RUNS = 10;
const READY = "Varve listening on";
const READY_WITHIN_MS = 30_000;
const root = process.env.VARVE_ROOT ?? process.cwd();

async function main(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "varve-cold-start-"));
  try {
    // The first start makes the home's state; what is measured are starts on existing state.
    await timeUntilReady(home);
    const bare: number[] = [];
    const ready: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      bare.push(await timeUntilExit());
      ready.push(await timeUntilReady(home));
    }
    report(bare, ready);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function report(bare: readonly number[], ready: readonly number[]): void {
  const figures = {
    bareNodeMs: rounded(median(bare)),
    readyMs: rounded(median(ready)),
    differenceMs: rounded(median(ready) - median(bare)),
    node: process.version,
    processors: cpus().length,
  };
  process.stdout.write(`${JSON.stringify({ name: "cold-start", counts: { runs: RUNS }, seed: 0, figures })}\n`);
}

async function timeUntilExit(): Promise<number> {
  const from = process.hrtime.bigint();
  const child = spawn(process.execPath, ["-e", "0"], { stdio: "ignore" });
  await ended(child);
  return millisecondsSince(from);
}

async function timeUntilReady(home: string): Promise<number> {
  const from = process.hrtime.bigint();
  const args = [join(root, "bin/varve.mjs"), "--port", "0", "--no-open", "--home", home];
  const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  const over = ended(child);
  try {
    await saysReady(child);
    return millisecondsSince(from);
  } finally {
    child.kill("SIGTERM");
    await over;
  }
}

function saysReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(
      () => reject(new Error(`not ready within ${READY_WITHIN_MS} ms: ${text}`)),
      READY_WITHIN_MS,
    );
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      outcome();
    };
    const read = (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes(READY)) settle(resolve);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => settle(() => reject(new Error(`ended with ${code} before it was ready: ${text}`))));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}

/** No provider key and no setting of the machine: the start that is measured is the same everywhere. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|LANG|TMPDIR|SystemRoot)$/.test(name));
  return Object.fromEntries(kept);
}

function millisecondsSince(from: bigint): number {
  return Number(process.hrtime.bigint() - from) / 1e6;
}

await main();
