import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensure } from "./ensure.mjs";
import { filesBelow } from "./lib/files.mjs";
import { ROOT } from "./lib/root.mjs";

// `npm run check`: everything about the source that a machine can tell without running it. One line a step with its
// time; the lines of a step that fails follow it. The tools run as children, two at a time; our own checkers run here.
const PARALLEL = 2;
const bin = (path) => join(ROOT, "node_modules", path);
const started = Date.now();
let failures = 0;

try {
  await ensure({ dev: true, build: false });
  await Promise.all([ownChecks(), tools(commands())]);
} catch (error) {
  failures += 1;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
const verdict = failures === 0 ? "all checks passed" : `${failures} checks failed`;
process.stdout.write(`${verdict} in ${seconds(started)}\n`);
process.exitCode = failures === 0 ? 0 : 1;

function commands() {
  const steps = [];
  if (hasFiles("packages/web/src", /\.svelte$/)) {
    steps.push({ name: "svelte", args: [bin("svelte-check/bin/svelte-check"), ...svelteArguments()] });
  }
  for (const config of typeConfigs()) {
    steps.push({ name: `types ${config.name}`, args: [bin("ts7/bin/tsc"), "--pretty", "false", "-p", config.path] });
  }
  steps.push({ name: "format and lint", args: [bin("@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."] });
  return steps;
}

function svelteArguments() {
  return ["--workspace", "packages/web", "--tsconfig", "./tsconfig.json", "--output", "human", "--fail-on-warnings"];
}

/**
 * Rooms of one surrounding are one program: what they share is read once. The browser-safe ones stand alone, so that no
 * type of Node reaches them; the page's sources, Svelte modules among them, are svelte-check's to type.
 */
function typeConfigs() {
  return [
    { name: "protocol", path: "packages/protocol" },
    { name: "client", path: "packages/client" },
    { name: "of Node's rooms", path: "tsconfig.node.json" },
    { name: "of cli, sim, benchmarks and tests", path: "tsconfig.rest.json" },
  ];
}

function hasFiles(folder, pattern) {
  return filesBelow(join(ROOT, folder)).some((path) => pattern.test(path));
}

async function ownChecks() {
  const checks = [
    ["layers", async () => (await import("./check-layers.mjs")).layerProblems],
    ["spec", async () => (await import("./check-spec.mjs")).specProblems],
    ["words", async () => (await import("./check-words.mjs")).wordProblems],
    ["sizes", async () => (await import("./check-sizes.mjs")).sizeProblems],
    ["order", async () => (await import("./check-order.mjs")).orderProblems],
    ["packages", async () => (await import("./check-packages.mjs")).packageProblems],
    ["limits", async () => (await import("./check-limits.mjs")).limitProblems],
    ["purity", async () => (await import("./check-pure.mjs")).purityProblems],
  ];
  for (const [name, load] of checks) {
    const from = Date.now();
    const problems = (await load())();
    report({ name, from, ok: problems.length === 0, output: problems.join("\n") });
    // Children that ended meanwhile get their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function tools(steps) {
  const waiting = [...steps];
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await runTool(step);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

function runTool({ name, args }) {
  const from = Date.now();
  const env = { ...process.env, NO_COLOR: "1", CI: "true" };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => {
      output += error.message;
    });
    child.on("close", (code) => {
      report({ name, from, ok: code === 0, output: output.trim() });
      resolve();
    });
  });
}

function report({ name, from, ok, output }) {
  if (!ok) failures += 1;
  process.stdout.write(`${ok ? "ok  " : "FAIL"} ${name} (${seconds(from)})\n`);
  if (!ok && output !== "") process.stdout.write(`${output.replace(/^/gm, "     ")}\n`);
}

function seconds(from) {
  return `${((Date.now() - from) / 1000).toFixed(1)} s`;
}
