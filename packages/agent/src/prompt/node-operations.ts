/** The real surroundings: files and git of this machine. The rim; everything above takes it as an argument. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath } from "node:fs/promises";
import { arch, platform, release } from "node:os";
import type { Clock } from "@varve/protocol";
import { clipText } from "../text.ts";
import { within } from "../tools/boundary.ts";
import type { ContextOperations, ReadFence, ReadTextOptions, RepositoryFacts, RepositoryPlace } from "./operations.ts";

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
    readText: (path, options) => inTime(clock, fileMs, readText(path, options)),
    list: (path, max) => inTime(clock, fileMs, list(path, max)),
    place: (cwd) => inTime(clock, gitMs, repositoryPlace(cwd)),
    repository: (cwd) => inTime(clock, gitMs * 2, repository(cwd)),
  };
}

async function readText(path: string, { charsMax, fence }: ReadTextOptions) {
  // Without waiting: the open of a named pipe would hold a thread of the process for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile() || (fence !== undefined && !(await isFenced(file, path, fence)))) return null;
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

/** Where the open file really is; elsewhere than on Linux the path is looked up once more. */
async function isFenced(file: FileHandle, path: string, { inside, never }: ReadFence): Promise<boolean> {
  const real = platform() === "linux" ? await readlink(`/proc/self/fd/${file.fd}`) : await realpath(path);
  const forbidden = await realpath(never).catch(() => never);
  return within(await realpath(inside), real) && !within(forbidden, real);
}

async function list(path: string, max: number) {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  return { names: names.slice(0, max), more: Math.max(0, names.length - max) };
}

async function repositoryPlace(cwd: string): Promise<RepositoryPlace> {
  const [root = "", prefix = ""] = (await git(cwd, ["rev-parse", "--show-toplevel", "--show-prefix"])).split("\n");
  return { root, prefix };
}

async function repository(cwd: string): Promise<RepositoryFacts | null> {
  const [place, filters] = await Promise.all([
    repositoryPlace(cwd),
    git(cwd, ["config", "-z", "--name-only", "--get-regexp", "^filter\\."], { mayFindNothing: true }),
  ]);
  const settings = filters.split("\0").flatMap(harmless);
  // Modules have settings of their own, so they are not looked into.
  const status = await git(cwd, ["status", "--porcelain=v2", "--branch", "--ignore-submodules=all"], { settings });
  const head = /^# branch\.head (.+)$/m.exec(status)?.[1];
  const changed = status.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  return { ...place, branch: head === undefined || head === "(detached)" ? null : head, changed };
}

type Setting = readonly [string, string];

/** What takes a filter's program away: git would run it to see whether a file changed. Nothing for other settings. */
function harmless(key: string): readonly Setting[] {
  if (/\.(clean|process|smudge)$/.test(key)) return [[key, ""]];
  return key.endsWith(".required") ? [[key, "false"]] : [];
}

/** Variables that git needs. Keys of providers are not among them, nor what would point it at another repository. */
const gitEnvironment = "PATH HOME USER LOGNAME TMPDIR XDG_CONFIG_HOME GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM".split(" ");

interface GitOptions {
  readonly settings?: readonly Setting[];
  /** Exit 1 stands for an empty answer. */
  readonly mayFindNothing?: boolean;
}

/**
 * Read only: takes no lock, reaches no other machine, and runs no program that the repository's own settings name. Whoever
 * made the directory may have written them, and nobody has allowed anything yet.
 */
function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const settings: readonly Setting[] = [["core.fsmonitor", "false"], ...(options.settings ?? [])];
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => gitEnvironment.includes(name))),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // No transport has this name, so no missing object is fetched from anywhere.
    GIT_ALLOW_PROTOCOL: "none",
    LC_ALL: "C",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
  return new Promise((resolve, reject) => {
    execFile(
      "git",
      [...args],
      { cwd, env, timeout: gitMs, maxBuffer: gitBytesMax, killSignal: "SIGKILL" },
      (error, stdout) => {
        if (error === null) resolve(stdout);
        else if (options.mayFindNothing === true && error.code === 1) resolve("");
        else reject(error);
      },
    );
  });
}

/** The work's answer, or null when it fails or takes too long. */
function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
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
