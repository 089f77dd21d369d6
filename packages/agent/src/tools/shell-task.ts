/**
 * One command from start to end, for `bash` in the foreground and for jobs. It ends when its shell exits, also if processes
 * that it left behind still hold the output; what they write later is read and thrown away, so that they live on.
 */

import { prepareSandbox } from "../sandbox/plan.ts";
import { noSecrets } from "../secrets/known-secrets.ts";
import type { StreamRedactor } from "../secrets/stream-redactor.ts";
import { goneWords } from "./boundary.ts";
import { toolLimits } from "./limits.ts";
import type { ShellExit, ShellProcess, ToolOperations } from "./operations.ts";
import { WorldFault } from "./operations.ts";
import { count, ToolFault } from "./outcome.ts";
import { OutputKeeper } from "./output-keeper.ts";
import { endTree, living, pause } from "./process-tree.ts";
import { childEnvironment } from "./shell-env.ts";
import { TerminalText } from "./terminal-text.ts";
import type { ToolPlace } from "./tool.ts";

export type EarlyEnd = "timed out" | "stopped";

export interface TaskEnd {
  readonly exit: ShellExit;
  readonly early: EarlyEnd | null;
  /** Processes that live on after the shell; null where the system can't tell. */
  readonly left: number | null;
}

export interface TaskStart {
  readonly command: string;
  readonly place: ToolPlace;
  /** The program that builds the sandbox it runs in; null: it runs in none. */
  readonly sandbox: string | null;
  /** Names the spill file. */
  readonly callId: string;
  /** Gets all output as it comes, for a person: sequences removed, carriage returns still in it. */
  readonly live: (text: string) => void;
  /** Gets all output as final text. */
  readonly final?: (text: string) => void;
}

export class ShellTask {
  readonly mark: string;
  readonly ended: Promise<TaskEnd>;
  readonly #operations: ToolOperations;
  readonly #start: TaskStart;
  readonly #shell: ShellProcess;
  readonly #terminal = new TerminalText();
  readonly #redactor: StreamRedactor;
  readonly #keeper: OutputKeeper;
  #final: ((text: string) => void) | undefined;
  #early: EarlyEnd | null = null;
  #ending: Promise<void> | null = null;
  #heard = 0;
  #exited = false;
  #running = true;

  private constructor(operations: ToolOperations, start: TaskStart, given: { shell: ShellProcess; mark: string }) {
    this.#operations = operations;
    this.#start = start;
    this.#final = start.final;
    this.#shell = given.shell;
    this.#redactor = (start.place.secrets ?? noSecrets).stream();
    this.mark = given.mark;
    const name = start.callId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    this.#keeper = new OutputKeeper(() => operations.files.spill(start.place.tabId, name));
    this.#shell.onBytes((bytes) => this.#hear(bytes));
    this.ended = this.#end();
  }

  static async start(operations: ToolOperations, start: TaskStart): Promise<ShellTask> {
    const { files, processes } = operations;
    const { cwd, home } = start.place;
    const facts = await files.facts(cwd);
    if (facts === null) throw new ToolFault(goneWords(cwd));
    const mark = `${homeMark(home)}.${processes.newMark()}`;
    const box = start.sandbox === null ? null : await prepareSandbox(operations, start.place, start.sandbox);
    const env = { ...childEnvironment(processes.environment(), start.place, mark), ...box?.variables };
    try {
      const inBox = box === null ? {} : { sandbox: box.start };
      const shell = await processes.startShell({ command: start.command, cwd, env: withoutNulls(env), ...inBox });
      if (box !== null) void shell.closed.then(box.close);
      return new ShellTask(operations, start, { shell, mark });
    } catch (thrown) {
      box?.close();
      if (thrown instanceof WorldFault && thrown.code === "ENOENT") throw new ToolFault(goneWords(cwd));
      throw thrown;
    }
  }

  get running(): boolean {
    return this.#running;
  }

  /** Neither its shell has exited nor is it being ended. */
  get goesOn(): boolean {
    return !this.#exited && this.#ending === null;
  }

  /** From now on another one gets all output as final text. */
  follow(final: (text: string) => void): void {
    this.#final = final;
  }

  /** Ends everything of the command. The first reason counts. */
  stop(reason: EarlyEnd): Promise<void> {
    // After the shell's exit a time-out comes too late to be true, and what was left running is not its business.
    if (this.#exited && reason === "timed out") return Promise.resolve();
    if (!this.#exited) this.#early ??= reason;
    this.#ending ??= endTree(this.#operations, this.mark, this.#shell);
    return this.#ending;
  }

  /** Ends what it left running, after its own end: by the mark, and with its sandbox also what shed that. */
  async endLeft(): Promise<void> {
    await endTree(this.#operations, this.mark, null);
    this.#shell.endSandbox?.();
  }

  /** What the model is told of the output so far. */
  output(): string {
    if (this.#terminal.binary) return `⟨binary output, ${count(this.#terminal.bytes, "byte")}⟩`;
    const text = this.#keeper.text();
    return this.#terminal.invalid ? `${lineEnded(text)}⟨non-UTF-8 output: some bytes are shown as \ufffd⟩` : text;
  }

  get binary(): boolean {
    return this.#terminal.binary;
  }

  spill(): Uint8Array | null {
    return this.#terminal.binary ? null : this.#keeper.spill();
  }

  #hear(bytes: Uint8Array): void {
    this.#heard += 1;
    this.#take(this.#terminal.push(bytes));
  }

  #take({ live, text }: { readonly live: string; readonly text: string }): void {
    if (live !== "") this.#start.live(live);
    this.#keep(this.#redactor.push(text));
  }

  /** Before anything is cut or written to a file: half a secret is none that could be found again. */
  #keep(text: string): void {
    if (text === "") return;
    this.#final?.(text);
    this.#keeper.append(text);
  }

  async #end(): Promise<TaskEnd> {
    const exit = await this.#shell.exited;
    this.#exited = true;
    if (this.#ending !== null) await this.#ending;
    await this.#drain();
    this.#shell.onBytes(null);
    this.#take(this.#terminal.end());
    this.#keep(this.#redactor.end());
    this.#keeper.close();
    this.#running = false;
    const left = await living(this.#operations.processes, this.mark);
    return { exit, early: this.#early, left: left?.length ?? null };
  }

  /**
   * What the shell wrote is on its way when it exits. With nobody else there the output closes as soon as it has come through,
   * however busy the machine is; who still writes after the exit is not waited for.
   */
  async #drain(): Promise<void> {
    let closed = false;
    const onClosed = this.#shell.closed.then(() => {
      closed = true;
    });
    const { clock, processes } = this.#operations;
    const { drainMs, drainQuietMs, drainAloneMs } = toolLimits;
    const oneRound = () => Promise.race([onClosed, pause(clock, drainQuietMs)]);
    await oneRound();
    if (closed) return;
    const alone = (await living(processes, this.mark))?.length === 0;
    let quiet = 0;
    for (let waited = 0; waited < (alone ? drainAloneMs : drainMs) && !closed; waited += drainQuietMs) {
      const before = this.#heard;
      await oneRound();
      quiet = this.#heard === before ? quiet + 1 : 0;
      if (!alone && quiet > 1) return;
    }
  }
}

function withoutNulls(env: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

export const lineEnded = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** Marks of one home begin alike, so that a server finds what an earlier one of the same home left behind. */
export function homeMark(home: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(home)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash.toString(16).padStart(16, "0");
}
