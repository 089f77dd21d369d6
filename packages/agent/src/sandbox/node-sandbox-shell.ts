/** Starts one command in a sandbox of bubblewrap's. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { findProgram, sendSignal, started } from "../tools/child-process.ts";
import { type ProcessOperations, type ShellExit, type ShellProcess, WorldFault } from "../tools/operations.ts";
import { markVariable } from "../tools/shell-env.ts";
import { bridgeScript, toldOf, waiterScript } from "./waiter.ts";

type ShellStart = Parameters<ProcessOperations["startShell"]>[0];
type InSandbox = ShellStart & { readonly sandbox: NonNullable<ShellStart["sandbox"]> };

/**
 * As without a sandbox, output goes through a `cat` that outlives SIGTERM, for it has to be a pipe. This shell is outside:
 * it reads no file and inherits no function that a command could have put there, and it names its programs by whole path.
 */
const outside = `exec "$@" > >(trap "" TERM; exec "$0") 2>&1`;
const wordsMax = 64 * 1024;

export async function startSandboxedShell(start: InSandbox): Promise<ShellProcess> {
  const { command, cwd, env, sandbox } = start;
  const [bash, cat] = [findProgram("bash"), findProgram("cat")];
  if (bash === null || cat === null) throw new WorldFault("ENOENT", "bash");
  const { [markVariable]: mark = "", ...inside } = env;
  const { socket } = sandbox;
  const bridge = socket === null ? [] : [process.execPath, bridgeScript, socket];
  const child = spawn(
    bash,
    [
      "-p",
      "-c",
      outside,
      cat,
      sandbox.program,
      "--args",
      "5",
      "--",
      bash,
      "-p",
      "-c",
      waiterScript,
      bash,
      command,
      mark,
      ...bridge,
    ],
    // Nothing of the command's environment is outside, where it could change what is run.
    { cwd: "/", env: {}, detached: true, stdio: ["ignore", "pipe", "ignore", "pipe", "pipe", "pipe"] },
  );
  const variables = Object.entries(inside).flatMap(([name, value]) => ["--setenv", name, value]);
  writable(child, 5).end([...sandbox.args, "--clearenv", ...variables].map((arg) => `${arg}\0`).join(""));
  // Held open: its end tells what is inside that this process is gone.
  writable(child, 4);
  const exited = exitOf(child);
  const closed = new Promise<void>((done) => {
    child.once("close", () => done());
  });
  const pid = await started(child, cwd);
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid,
    exited,
    closed,
    onBytes: (listener) => {
      child.stdout?.removeAllListeners("data");
      child.stdout?.on("data", (bytes: Uint8Array) => listener?.(bytes));
    },
    // What builds the sandbox would end at once with all that is inside; who is inside is asked by its mark.
    signalGroup: (signal) => {
      if (signal === "SIGKILL" && !ended()) sendSignal(-pid, signal);
    },
    endSandbox: () => {
      if (!ended()) sendSignal(-pid, "SIGKILL");
    },
  };
}

/** As the command itself ended; the sandbox may stay for what it left running. */
function exitOf(child: ChildProcess): Promise<ShellExit> {
  const told = readable(child, 3);
  let words = "";
  return new Promise((done) => {
    told.on("data", (bytes: Uint8Array) => {
      if (words.length < wordsMax) words += Buffer.from(bytes).toString("latin1");
      const { exit } = toldOf(words);
      if (exit !== null) done(exit);
    });
    child.once("exit", (code, signal) => {
      const settle = () => done(toldOf(words).exit ?? endedBefore(words, code, signal));
      // The words may still be on their way when the process is gone.
      if (told.closed) settle();
      else told.once("close", settle);
    });
  });
}

/** Without the command's own word: it was killed with its sandbox, or the sandbox never came up. */
const endedBefore = (words: string, code: number | null, signal: string | null): ShellExit =>
  toldOf(words).up ? { code: null, signal: signal ?? "SIGKILL" } : { code: code ?? 1, signal: null, notStarted: true };

function readable(child: ChildProcess, fd: 3): Readable {
  const stream = child.stdio[fd];
  if (stream == null || !("read" in stream)) throw new WorldFault("EPIPE", "sandbox");
  return stream;
}

function writable(child: ChildProcess, fd: 4 | 5): Writable {
  const stream = child.stdio.at(fd);
  if (stream == null || !("write" in stream)) throw new WorldFault("EPIPE", "sandbox");
  // It ends when the other side does, which is told by the process's exit.
  stream.on("error", () => {});
  return stream;
}
