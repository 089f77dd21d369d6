/** The real surroundings: files and git of this machine. The rim; everything above takes it as an argument. */
import { execFile } from "node:child_process";
import { open, readdir } from "node:fs/promises";
import { arch, platform, release } from "node:os";
import type { Clock } from "@varve/protocol";
import { clipText } from "../text.ts";
import type { ContextOperations, RepositoryFacts } from "./operations.ts";

/** Longer than this, and the answer is null: a dead network folder must not hold up a message. */
const fileMs = 2_000;
const gitMs = 2_000;
const gitBytesMax = 4 * 1024 * 1024;

export function nodeContextOperations(options: {
  readonly clock: Clock;
  readonly shell?: string | undefined;
}): ContextOperations {
  const { clock } = options;
  return {
    system: `${platform()} ${release()} (${arch()})`,
    shell: options.shell ?? "/bin/sh",
    readText: (path, charsMax) => within(clock, fileMs, readText(path, charsMax)),
    list: (path, max) => within(clock, fileMs, list(path, max)),
    repository: (cwd) => within(clock, gitMs * 2, repository(cwd)),
  };
}

async function readText(path: string, charsMax: number) {
  const file = await open(path, "r");
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return null;
    // A character takes at most three bytes of UTF-8 per UTF-16 unit.
    const buffer = Buffer.alloc(Math.min(stat.size, charsMax * 3));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const whole = buffer
      .subarray(0, bytesRead)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
    const text = clipText(whole, charsMax);
    return { text, bytes: stat.size, clipped: text.length < whole.length || bytesRead < stat.size };
  } finally {
    await file.close();
  }
}

async function list(path: string, max: number) {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  return { names: names.slice(0, max), more: Math.max(0, names.length - max) };
}

async function repository(cwd: string): Promise<RepositoryFacts | null> {
  const [places, status] = await Promise.all([
    git(cwd, ["rev-parse", "--show-toplevel", "--show-prefix"]),
    git(cwd, ["status", "--porcelain=v2", "--branch"]),
  ]);
  const [root = "", prefix = ""] = places.split("\n");
  const head = /^# branch\.head (.+)$/m.exec(status)?.[1];
  const changed = status.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  return { root, prefix, branch: head === undefined || head === "(detached)" ? null : head, changed };
}

/** Read only: takes no lock, and runs no program that the repository's own settings name. */
function git(cwd: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  return new Promise((resolve, reject) => {
    execFile(
      "git",
      ["-c", "core.fsmonitor=false", ...args],
      { cwd, env, timeout: gitMs, maxBuffer: gitBytesMax, killSignal: "SIGKILL" },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
  });
}

/** The work's answer, or null when it fails or takes too long. */
function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(ms, () => resolve(null));
    work.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      () => {
        // What cannot be read is not there, as far as a prompt is concerned.
        timer.cancel();
        resolve(null);
      },
    );
  });
}
