/** A workspace, a home and a tool box in a folder of their own, for tests. Everything ends with the scope that opened it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Json, type JsonObject, parseTabId, type StoredRow, type TabId } from "@varve/protocol";
import type { ToolBoxOptions } from "../context.ts";
import { nodeOperations } from "../node-operations.ts";
import type { ToolOperations } from "../operations.ts";
import type { PreparedCall, SandboxWish, ToolBox, ToolOutcome, ToolPlace } from "../tool.ts";
import { createToolBox } from "../toolbox.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly output?: (text: string) => void;
  readonly canMove?: (move: () => boolean) => void;
  readonly ask?: (question: string, options: readonly string[]) => Promise<string | null>;
  readonly rows?: readonly StoredRow[];
}

export interface Scratch extends AsyncDisposable {
  /** The folder that holds `ws` and `home`, a real path. */
  readonly base: string;
  readonly ws: string;
  readonly place: ToolPlace;
  readonly box: ToolBox;
  readonly operations: ToolOperations;
  /** Writes a file below `ws`, with its directories. */
  file(path: string, content: string | Uint8Array): string;
  /** Prepares; an error text is thrown. */
  prepare(name: string, args: JsonObject): Promise<PreparedCall>;
  /** Prepares and runs; an error of `prepare` becomes an outcome, as it does in the loop. */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<ToolOutcome>;
}

export interface ScratchOptions extends ToolBoxOptions {
  readonly change?: (operations: ToolOperations) => ToolOperations;
  readonly hiddenEnv?: readonly string[];
  readonly sandbox?: SandboxWish;
  readonly directories?: readonly string[];
}

export function tabId(text: string): TabId {
  const id = parseTabId(text);
  if (id === null) throw new Error(`${text} is no id`);
  return id;
}

let calls = 0;

export function scratch(options: ScratchOptions = {}): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-tools-")));
  const ws = join(base, "ws");
  for (const folder of ["ws", "home", "spill"]) mkdirSync(join(base, folder));
  const real = nodeOperations({ spillRoot: join(base, "spill") });
  const operations = options.change?.(real) ?? real;
  const box = createToolBox(operations, options);
  const place: ToolPlace = {
    tabId: tabId("tab"),
    cwd: ws,
    home: join(base, "home"),
    hiddenEnv: options.hiddenEnv ?? [],
    ...(options.sandbox !== undefined && { sandbox: options.sandbox }),
    ...(options.directories !== undefined && { directories: options.directories }),
  };
  const toolNamed = (name: string) => {
    const tool = box.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  return {
    base,
    ws,
    place,
    box,
    operations,
    file: (path, content) => {
      const whole = join(ws, path);
      mkdirSync(dirname(whole), { recursive: true });
      writeFileSync(whole, content);
      return whole;
    },
    prepare: async (name, args) => {
      const prepared = await toolNamed(name).prepare(args, place);
      if ("error" in prepared) throw new Error(prepared.error);
      return prepared;
    },
    call: async (name, args, given = {}) => {
      const prepared = await toolNamed(name).prepare(args, place);
      return "error" in prepared ? { text: prepared.error, isError: true } : await runPrepared(prepared, given);
    },
    [Symbol.asyncDispose]: async () => {
      await box.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export function runPrepared(prepared: PreparedCall, given: CallOptions = {}): Promise<ToolOutcome> {
  calls += 1;
  return prepared.run({
    callId: `call-${calls}`,
    signal: given.signal ?? new AbortController().signal,
    output: given.output ?? (() => {}),
    ...(given.canMove !== undefined && { canMove: given.canMove }),
    ask: given.ask ?? (async () => null),
    rows: (from, to) => (given.rows ?? []).filter(({ seq }) => seq >= from && seq <= to),
  });
}

/** A number in the details of an outcome. */
export const detail = (outcome: ToolOutcome, name: string): Json | undefined => outcome.details?.[name];
