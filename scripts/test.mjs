import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensure } from "./ensure.mjs";
import { countLine } from "./lib/count-reporter.mjs";
import { readStamp } from "./lib/files.mjs";
import { ensureBrowser } from "./lib/install-browser.mjs";
import { ensureSandbox } from "./lib/install-sandbox.mjs";
import { ROOT } from "./lib/root.mjs";

// `npm test`: installs and builds what is missing, finds a browser, runs every test (the repository's own rules are
// tests too), and ends in the line `N passed, N failed, N skipped`. Arguments after `--` go to Vitest.
const say = (line) => process.stdout.write(`${line}\n`);
// Colours are for terminals; a log that a machine reads ends in a plain line.
const plain = process.stdout.isTTY ? {} : { NO_COLOR: "1" };
let counts = { passed: 0, failed: 1, skipped: 0 };
try {
  await ensure({ dev: true, say });
  const browser = await ensureBrowser({ say });
  await ensureSandbox({ say });
  counts = await runTests(browser, process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
process.exitCode = counts.failed === 0 ? 0 : 1;
say(countLine(counts));

/** Runs Vitest; a run that ends badly without a failed test (it crashed, or found no files) counts as one failure. */
async function runTests(browser, args) {
  const folder = mkdtempSync(join(tmpdir(), "varve-test-run-"));
  const file = join(folder, "counts.json");
  try {
    const code = await runVitest(args, { ...process.env, CHROMIUM: browser, VARVE_TEST_COUNTS: file, ...plain });
    const counted = readStamp(file) ?? { passed: 0, failed: 0, skipped: 0 };
    if (code === 0 || counted.failed > 0) return counted;
    say(`Vitest ended with ${code} although no test failed; that counts as a failure.`);
    return { ...counted, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(args, env) {
  const script = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [script, "run", ...args], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal ?? code ?? 1));
  });
}
