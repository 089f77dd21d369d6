import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const APT = "apt-get update && apt-get install -y --no-install-recommends bubblewrap";

/**
 * Sees to it that the tests of the sandbox have bubblewrap. Unlike the browser it is optional, as it is for the product:
 * where it can't be had those tests are skipped and counted, and one line says so.
 */
export async function ensureSandbox({ say, env = process.env, platform = process.platform, install = runApt }) {
  if (platform !== "linux") return say("Tests of the sandbox are skipped: bubblewrap is for Linux.");
  if (findBubblewrap(env) !== undefined) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    say(`Installing bubblewrap for the tests of the sandbox: ${APT}`);
    await install(env);
    if (findBubblewrap(env) !== undefined) return;
  }
  say(`Tests of the sandbox are skipped: there is no bubblewrap. Install it with your system's package manager.`);
}

export function findBubblewrap(env = process.env, isExecutable = canExecute) {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "bwrap")).find(isExecutable);
}

function canExecute(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent or not executable: both mean "not this one".
  }
}

function runApt(env) {
  const child = spawn("/bin/sh", ["-c", APT], {
    env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
