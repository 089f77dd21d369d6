/** Processes of this machine. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { startSandboxedShell } from "../sandbox/node-sandbox-shell.ts";
import { findProgram, sendSignal, started } from "./child-process.ts";
import { codeOf } from "./node-files.ts";
import {
  type ProcessOperations,
  type ProgramRun,
  type ShellExit,
  type ShellProcess,
  WorldFault,
} from "./operations.ts";
import { markVariable } from "./shell-env.ts";

const stderrCharsMax = 4_000;

function environment(): Record<string, string> {
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) known[name] = value;
  return known;
}

const findShell = (): string => findProgram("bash") ?? "/bin/sh";
/** As what commands are read by the shell that runs them here. */
export const commandShell = (): "bash" | "posix" => (findShell().endsWith("bash") ? "bash" : "posix");

/**
 * The outer shell becomes the one that runs the command, so its exit is the command's. Node hands out sockets as output,
 * and a socket can't be opened as /dev/stderr; behind bash a `cat` makes it a pipe, which can. It ignores SIGTERM, so that
 * the last words of what is ended still come through, and carries no mark, so that it is not counted.
 */
const throughPipe = `exec "$0" -c "$1" > >(trap "" TERM; ${markVariable}= exec cat) 2>&1`;
const throughSocket = 'exec "$0" -c "$1" 2>&1';

type ShellStart = Parameters<ProcessOperations["startShell"]>[0];

async function startShell({ command, cwd, env, sandbox }: ShellStart): Promise<ShellProcess> {
  if (sandbox !== undefined) return startSandboxedShell({ command, cwd, env, sandbox });
  const shell = findShell();
  const script = shell.endsWith("bash") ? throughPipe : throughSocket;
  const child = spawn(shell, ["-c", script, shell, command], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = new Promise<ShellExit>((done) => {
    child.once("exit", (code, signal) => done({ code, signal }));
  });
  const closed = new Promise<void>((done) => {
    child.once("close", () => done());
  });
  const pid = await started(child, cwd);
  return {
    pid,
    exited,
    closed,
    onBytes: (listener) => {
      child.stdout?.removeAllListeners("data");
      child.stdout?.on("data", (bytes: Uint8Array) => listener?.(bytes));
    },
    signalGroup: (signal) => sendSignal(-pid, signal),
  };
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly environment: string;
}

/** Null for zombies and for what went away while it was looked at. */
async function look(pid: number): Promise<Seen | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    // The name before the last parenthesis may hold anything.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return null;
    return { pid, parent: Number(parent), environment: await environmentOf(pid) };
  } catch {
    // It ended between being listed and being read.
    return null;
  }
}

async function environmentOf(pid: number): Promise<string> {
  try {
    return `\0${await readFile(`/proc/${pid}/environ`, "latin1")}`;
  } catch {
    // Other users' processes do not show theirs, and were not started by us.
    return "";
  }
}

async function marked(variable: string, value: string): Promise<readonly number[] | null> {
  if (process.platform !== "linux") return null;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const seen = (await Promise.all(pids.map(look))).filter((one) => one !== null && one.pid !== process.pid);
  const ours = new Set<number>();
  const byParent = new Map<number, Seen[]>();
  for (const one of seen) {
    if (one === null) continue;
    if (one.environment.includes(`\0${variable}=${value}`)) ours.add(one.pid);
    byParent.set(one.parent, [...(byParent.get(one.parent) ?? []), one]);
  }
  // A set grows while it is walked, so children of children are met too.
  for (const pid of ours) {
    for (const child of byParent.get(pid) ?? []) {
      if (!child.environment.includes(`\0${variable}=\0`)) ours.add(child.pid);
    }
  }
  return [...ours].sort((a, b) => a - b);
}

function run({ file, args, cwd, signal, onBytes }: ProgramRun): ReturnType<ProcessOperations["run"]> {
  return new Promise((done, failed) => {
    // It needs nothing of our environment, which holds keys.
    const child = spawn(file, [...args], { cwd, env: {}, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    let ended = false;
    const end = () => {
      ended = true;
      child.kill("SIGKILL");
    };
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    child.stdout.on("data", (bytes: Uint8Array) => {
      if (!ended && !onBytes(bytes)) end();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      if (stderr.length < stderrCharsMax) stderr += bytes.toString("utf8");
    });
    child.once("error", (error) => failed(new WorldFault(codeOf(error) ?? "UNKNOWN", cwd)));
    child.once("close", (code) => {
      signal.removeEventListener("abort", end);
      done({ code: ended ? null : code, stderr: stderr.slice(0, stderrCharsMax) });
    });
  });
}

/** From the installed package, if its program is there for this machine and runs. */
async function findRipgrep(): Promise<string | null> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const never = new AbortController().signal;
    const tried = await run({ file: rgPath, args: ["--version"], cwd: "/", signal: never, onBytes: () => true });
    return tried.code === 0 ? rgPath : null;
  } catch {
    // The package has no program for this machine, or it can't be run here: we walk ourselves.
    return null;
  }
}

export function nodeProcesses(): ProcessOperations {
  let ripgrep: Promise<string | null> | null = null;
  return {
    environment,
    newMark: () => randomUUID(),
    startShell,
    marked,
    signal: sendSignal,
    run,
    ripgrep: () => {
      ripgrep ??= findRipgrep();
      return ripgrep;
    },
  };
}
