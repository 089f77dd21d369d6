import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStamp } from "./files.mjs";
import { ROOT } from "./root.mjs";
import { runChild } from "./run-child.mjs";

const runtimeKey = () => `${process.versions.node.split(".")[0]}-${process.platform}-${process.arch}`;

/**
 * What stands in node_modules against what the lock asks for: "ready", or "missing" (nothing usable there),
 * "tools" (only the development tools are missing) or "stale".
 * `dev` asks for the development tools too; an install that has them also serves a start that doesn't need them.
 */
export function installState({ dev, root = ROOT }) {
  const lockText = readFileSync(join(root, "package-lock.json"), "utf8");
  const stamp = readStamp(stampPath(root));
  const wanted = { lock: hashOf(lockText), runtime: runtimeKey() };
  if (stamp?.lock === wanted.lock && stamp.runtime === wanted.runtime && (stamp.dev || !dev)) return "ready";
  const installed = readStamp(join(root, "node_modules/.package-lock.json"));
  if (installed === undefined) return "missing";
  // Someone ran npm by hand: what npm recorded about it counts as much as our own stamp does.
  const sameRuntime = stamp === undefined || stamp.runtime === wanted.runtime;
  const lock = JSON.parse(lockText);
  if (!sameRuntime || !holdsLock(lock, installed, { dev: false })) return "stale";
  return !dev || holdsLock(lock, installed, { dev }) ? "ready" : "tools";
}

/** True when everything that the lock requires on this platform is recorded as installed in the very same version. */
export function holdsLock(lock, installed, { dev }) {
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (!path.includes("node_modules/") || wanted.link || wanted.optional || wanted.devOptional) return true;
    if (wanted.dev && !dev) return true;
    return installed.packages[path]?.version === wanted.version;
  });
}

/** Runs `npm ci` in the checkout and records what is there afterwards. Rejects with a sentence if npm fails. */
export async function install({ dev, root = ROOT, onStart }) {
  rmSync(stampPath(root), { force: true });
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error", ...(dev ? ["--include=dev"] : ["--omit=dev"])];
  const code = await runNpm(args, root, onStart);
  if (code !== 0) throw new Error(`npm ci failed (${code}); the lines above say why.`);
  const lockText = readFileSync(join(root, "package-lock.json"), "utf8");
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stampPath(root), JSON.stringify({ lock: hashOf(lockText), runtime: runtimeKey(), dev }));
}

async function runNpm(args, cwd, onStart) {
  const script = process.env.npm_execpath;
  const viaNode = script !== undefined && /npm-cli\.[cm]?js$/.test(script) && existsSync(script);
  const windows = process.platform === "win32";
  const command = viaNode ? process.execPath : windows ? "npm.cmd" : "npm";
  const options = { cwd, env: npmEnvironment(process.env), shell: windows && !viaNode, onStart };
  try {
    return await runChild(command, viaNode ? [script, ...args] : args, options);
  } catch (error) {
    throw new Error(`npm could not be started (${error.message}). Install npm and start again.`);
  }
}

/** The outer npm passes its own settings down; NODE_ENV=production and an omit list would silently drop what we ask for. */
function npmEnvironment(env) {
  const dropped = /^(NODE_ENV|npm_config_(omit|include|production|only|workspace|workspaces|dry_run))$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.test(name)));
}

const hashOf = (text) => createHash("sha256").update(text).digest("hex");
const stampPath = (root) => join(root, "node_modules/.varve-install.json");
