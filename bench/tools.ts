import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createToolBox, nodeOperations, type ToolBox, type ToolPlace } from "@varve/agent";
import { type JsonObject, parseTabId } from "@varve/protocol";
import { numberFlag, report } from "./lib/report.ts";
import { median, rounded, thousandths } from "./lib/statistics.ts";

// The tools on what is large: grep and glob over a tree of many files, each held against the bare program that they run, turn
// by turn; a window of a file of 1 GB; and a command that writes 100 MB, of which the server may keep next to nothing.

const FILES = numberFlag("--files", 50_000);
const ROUNDS = numberFlag("--rounds", 5);
const FILE_BYTES = numberFlag("--file-mb", 1_024) * 1024 ** 2;
const OUTPUT_BYTES = numberFlag("--output-mb", 100) * 1_000_000;
const FILES_A_FOLDER = 100;
const NEEDLE_EVERY = 500;
const SAMPLE_MS = 200;
const mib = 1024 ** 2;

interface Bench {
  readonly box: ToolBox;
  readonly place: ToolPlace;
  readonly ripgrep: string;
}

function makeTree(root: string): void {
  const words = "const value = compute(left, right); // a line as they are, neither short nor long\n".repeat(12);
  for (let folder = 0; folder * FILES_A_FOLDER < FILES; folder++) {
    const path = join(root, `part-${folder % 20}`, `folder-${folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_A_FOLDER && folder * FILES_A_FOLDER + file < FILES; file++) {
      const number = folder * FILES_A_FOLDER + file;
      const has = number % NEEDLE_EVERY === 0;
      writeFileSync(join(path, `${has ? "needle" : "file"}-${file}.ts`), has ? `${words}the needle is here\n` : words);
    }
  }
}

/** Runs a call as the loop does, without the person. Fails on an error: a benchmark of a refusal measures nothing. */
async function call({ box, place }: Bench, name: string, args: JsonObject): Promise<string> {
  const prepared = await box.get(name)?.prepare(args, place);
  if (prepared === undefined || "error" in prepared) throw new Error(`${name}: ${prepared?.error ?? "no such tool"}`);
  const outcome = await prepared.run({
    callId: "bench",
    signal: new AbortController().signal,
    output: () => {},
    ask: async () => null,
    rows: () => [],
  });
  if (outcome.isError) throw new Error(`${name}: ${outcome.text}`);
  return outcome.text;
}

/** The bare program, its output read and thrown away; bytes that it wrote. */
function bare(file: string, args: readonly string[], cwd: string): Promise<number> {
  return new Promise((done, failed) => {
    const child = spawn(file, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.on("error", failed);
    child.on("close", () => done(bytes));
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Both in turn, the first of a round changing, so that a busy moment meets both. */
async function against(ours: () => Promise<unknown>, theirs: () => Promise<unknown>) {
  await ours();
  await theirs();
  const [tool, program]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 2 === 0) tool.push(await timed(ours));
    program.push(await timed(theirs));
    if (round % 2 === 1) tool.push(await timed(ours));
  }
  const ratios = tool.map((ms, round) => ms / (program[round] ?? Number.NaN));
  return { toolMs: rounded(median(tool)), programMs: rounded(median(program)), ratio: thousandths(median(ratios)) };
}

async function searches(bench: Bench) {
  const { ripgrep, place } = bench;
  const plain = ["--no-config", "--hidden", "--glob", "!.git"];
  const run = (...args: readonly string[]) => bare(ripgrep, [...plain, ...args], place.cwd);
  return {
    grep: await against(
      () => call(bench, "grep", { pattern: "the needle" }),
      () => run("--line-number", "--no-heading", "the needle", "."),
    ),
    "glob of few": await against(
      () => call(bench, "glob", { pattern: "**/needle-*.ts" }),
      () => run("--files", "--glob", "**/needle-*.ts", "."),
    ),
    "glob of all, capped": await against(
      () => call(bench, "glob", { pattern: "**/*.ts" }),
      () => run("--files", "--sort", "path", "."),
    ),
  };
}

function makeLargeFile(path: string): number {
  const block = Buffer.from(
    "A line of a log that has grown for longer than anybody wanted it to grow, and still does.\n".repeat(11_000),
  );
  const fd = openSync(path, "w");
  let written = 0;
  while (written < FILE_BYTES) written += writeSync(fd, block);
  closeSync(fd);
  return written / 90;
}

const collected = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** What the process holds more than before, after a collection, at the worst moment of the work. */
async function growthMiB(work: () => Promise<unknown>): Promise<number> {
  const before = collected();
  let most = 0;
  const sampler = setInterval(() => {
    most = Math.max(most, collected() - before);
  }, SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  return rounded(Math.max(most, collected() - before) / mib);
}

async function windows(bench: Bench, lines: number) {
  const window = (offset: number) => call(bench, "read", { path: "large.log", offset, limit: 200 });
  await call(bench, "read", { path: "large.log", offset: 1, limit: 1 });
  const firstMs = await timed(() => window(1));
  let middleMs = 0;
  const heapMiB = await growthMiB(async () => {
    middleMs = await timed(() => window(Math.floor(lines / 2)));
  });
  return { firstMs: rounded(firstMs), middleMs: rounded(middleMs), heapMiB };
}

async function output(bench: Bench) {
  const command = `yes "a line of output like any other, and then the next one" | head -c ${OUTPUT_BYTES}`;
  await call(bench, "bash", { command: "echo ready" });
  let ms = 0;
  const heapMiB = await growthMiB(async () => {
    ms = await timed(() => call(bench, "bash", { command }));
  });
  return { ms: rounded(ms), heapMiB };
}

async function main(): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "varve-bench-tools-")));
  try {
    const [tree, files] = [join(base, "tree"), join(base, "files")];
    for (const path of [tree, files, join(base, "home"), join(base, "spill")]) mkdirSync(path);
    const operations = nodeOperations({ spillRoot: join(base, "spill") });
    const ripgrep = await operations.processes.ripgrep();
    const tabId = parseTabId("bench");
    if (ripgrep === null || tabId === null) throw new Error("there is no ripgrep here to measure against");
    const box = createToolBox(operations);
    const at = (cwd: string): Bench => ({
      box,
      ripgrep,
      place: { tabId, cwd, home: join(base, "home"), hiddenEnv: [] },
    });
    makeTree(tree);
    const lines = makeLargeFile(join(files, "large.log"));
    const found = await searches(at(tree));
    const read = await windows(at(files), lines);
    const shell = await output(at(files));
    await box.close();
    report({
      name: "tools",
      counts: { files: FILES, rounds: ROUNDS, fileBytes: FILE_BYTES, outputBytes: OUTPUT_BYTES },
      figures: {
        ...found,
        "window of a large file": read,
        "long output": shell,
        node: process.version,
        processors: cpus().length,
      },
    });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

await main();
