import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { findBrowser } from "./browser.mjs";

const APT = "apt-get update && apt-get install -y --no-install-recommends chromium";

/**
 * The path of a Chromium for the tests. When there is none and this process may install system packages, it does so and
 * says so in one line; otherwise it throws a sentence with the command to run.
 */
export async function ensureBrowser({ say, env = process.env }) {
  const found = findBrowser(env);
  if (found !== undefined) return found;
  if (env.CHROMIUM) throw new Error(`CHROMIUM names ${env.CHROMIUM}, which can't be run. Correct it or unset it.`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot && existsSync("/usr/bin/apt-get")) {
    say(`Installing a browser for the tests: ${APT}`);
    const code = await run(APT, env);
    const installed = findBrowser(env);
    if (installed !== undefined) return installed;
    throw new Error(
      `Installing the browser failed (exit code ${code}). Run \`${APT}\`, or set CHROMIUM to a Chromium.`,
    );
  }
  throw new Error(`The browser tests need a Chromium and none was found. ${advice(isRoot)}`);
}

function advice(isRoot) {
  if (process.platform === "linux") {
    const command = isRoot ? APT : "sudo apt-get install chromium";
    return `Run \`${command}\` (or your system's equivalent), or set CHROMIUM to its path.`;
  }
  if (process.platform === "darwin") return "Run `brew install --cask chromium`, or set CHROMIUM to its path.";
  return "Install Chrome or Chromium and set CHROMIUM to its path.";
}

function run(command, env) {
  const child = spawn("/bin/sh", ["-c", command], {
    env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal ?? code));
  });
}
