/** Makers of rows, ops and frames for the tests of this package. Everything has a default; a test says what it is about. */
import type { LogChunk } from "./chunk.ts";
import type { HeadFrame, OpenBlock, OpsFrame } from "./frame.ts";
import {
  type ChunkId,
  type LogId,
  noTurn,
  parseChunkId,
  parseLogId,
  parseTabId,
  parseTurnId,
  type TabId,
  type TurnId,
} from "./ids.ts";
import type { MessageQueued, Op, QueuedMessage, TabStatus } from "./op.ts";
import { assert } from "./unreachable.ts";

const legal = <T>(id: T | null): T => {
  assert(id !== null, "a test uses legal ids");
  return id;
};
export const chunkId = (text: string): ChunkId => legal(parseChunkId(text));
export const logId = (text: string): LogId => legal(parseLogId(text));
export const tabId = (text: string): TabId => legal(parseTabId(text));
export const turnId = (text: string): TurnId => legal(parseTurnId(text));

export const tab = tabId("tab");
export const log = logId("log");

export interface RowParts {
  readonly id: string;
  readonly seq: number;
  readonly term?: number;
  readonly text?: string;
  readonly role?: "user" | "assistant";
  readonly turn?: string;
  readonly step?: number;
}
export const textRow = ({
  id,
  seq,
  term = 1,
  text = id,
  role = "assistant",
  turn = "t1",
  step = 0,
}: RowParts): LogChunk => ({
  id: chunkId(id),
  seq,
  term,
  tabId: tab,
  turnId: turnId(turn),
  step,
  createdAt: 0,
  role,
  type: "text",
  data: { text },
});
export const resultRow = (id: string, seq: number, callId: string): LogChunk => ({
  ...textRow({ id, seq }),
  role: "tool",
  type: "tool_result",
  data: { callId, name: "bash", result: "done", isError: false },
});

export const message = (id: string, parts: Partial<QueuedMessage> = {}): QueuedMessage => ({
  id: chunkId(id),
  version: 1,
  position: 1,
  state: "queued",
  delivery: "steer",
  data: { text: id },
  by: "someone",
  at: 0,
  ...parts,
});

export const opened = (id: string, parts: Partial<Extract<Op, { op: "chunk-open" }>> = {}): Op => ({
  op: "chunk-open",
  id: chunkId(id),
  turnId: turnId("t1"),
  step: 0,
  index: 0,
  role: "assistant",
  type: "text",
  at: 0,
  ...parts,
});
export const delta = (id: string, offset: number, text: string): Op => ({
  op: "chunk-delta",
  id: chunkId(id),
  offset,
  text,
});
export const sealed = (row: LogChunk): Op => ({ op: "chunk-seal", row });
export const queued = (id: string, parts: Partial<QueuedMessage> = {}): MessageQueued => ({
  op: "message-queued",
  ...message(id, parts),
});
export const dropped = (id: string, reason: "cancelled" | "lost" = "cancelled"): Op => ({
  op: "message-dropped",
  id: chunkId(id),
  reason,
});
export const output = (callId: string, bytes: number): Op => ({ op: "output", callId, bytes, tail: `${bytes}` });

export const runningStatus: TabStatus = {
  state: "running",
  turnId: turnId("t1"),
  step: 0,
  waits: [],
  lastSealed: null,
};
export const status = (parts: Partial<TabStatus> = {}): Op => ({ op: "status", ...runningStatus, ...parts });

/** `a`: the stamp of the first stamped op; the last one follows from how many there are. */
export function frame(a: number, ops: readonly Op[], parts: Partial<OpsFrame> = {}): OpsFrame {
  const stamped = ops.filter((op) => op.op !== "chunk-delta" && op.op !== "output").length;
  return { type: "ops", tab, log, term: 1, a, b: a + stamped - 1, ops: [...ops], ...parts };
}

export const openBlock = (id: string, text: string, parts: Partial<OpenBlock> = {}): OpenBlock => ({
  id: chunkId(id),
  turnId: turnId("t1"),
  step: 0,
  index: 0,
  role: "assistant",
  type: "text",
  at: 0,
  offset: 0,
  text,
  ...parts,
});

export function head(n: number, parts: Partial<HeadFrame> = {}): HeadFrame {
  const rows = parts.rows ?? [];
  return {
    type: "head",
    tab,
    log,
    term: 1,
    n,
    from: 0,
    mode: "append",
    rows,
    tail: rows.at(-1)?.seq ?? parts.from ?? 0,
    queue: [],
    open: [],
    outputs: [],
    status: { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null },
    ...parts,
  };
}

export { noTurn };

/** All orders of a list. */
export function permutations<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length <= 1) return [list];
  return list.flatMap((first, i) => permutations(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}
