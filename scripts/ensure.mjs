import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPlan } from "./lib/build-plan.mjs";
import { install, installState } from "./lib/install.mjs";
import { withLock } from "./lib/lock-folder.mjs";
import { ROOT } from "./lib/root.mjs";
import { runChild } from "./lib/run-child.mjs";

const LOCK = join(ROOT, ".varve-build/lock");

const INSTALLING = {
  missing: "Installing packages (first run).",
  tools: "Installing packages, now with the development tools.",
  stale: "Installing packages (the lock or the Node version changed).",
};

/**
 * Makes the checkout ready to run: installs and builds what is missing or stale, and nothing else. Says in one line
 * each what it does. `dev` also brings the development tools, `build: false` leaves out the build. Safe to run several
 * times at once.
 */
export async function ensure({ dev = false, build = true, say = (line) => process.stdout.write(`${line}\n`) } = {}) {
  if (isReady({ dev, build })) return;
  const onWait = (pid) => say(`Waiting for process ${pid}, which is installing or building here.`);
  await withLock(LOCK, (onStart) => makeReady({ dev, build, say, onStart }), onWait);
}

function isReady({ dev, build }) {
  if (installState({ dev }) !== "ready") return false;
  if (!build) return true;
  const { stale, absent } = buildPlan();
  return stale.length === 0 && absent.length === 0;
}

async function makeReady({ dev, build, say, onStart }) {
  const state = installState({ dev });
  if (state !== "ready") {
    say(INSTALLING[state]);
    await install({ dev, onStart });
  }
  if (!build) return;
  const { stale, absent } = buildPlan();
  for (const name of absent) say(`Skipping the ${name} build: its sources are not in this checkout.`);
  for (const { name } of stale) {
    say(name === "web" ? "Building the page." : "Building the server.");
    await runBuild(name, onStart);
  }
}

async function runBuild(name, onStart) {
  const script = fileURLToPath(new URL("./build.mjs", import.meta.url));
  const code = await runChild(process.execPath, [script, name], { cwd: ROOT, onStart });
  if (code !== 0) throw new Error(`Building the ${name} failed (${code}); the lines above say why.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await ensure({ dev: process.argv.includes("--dev") });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
