/** What is known of one tab. It changes only through `apply.ts`. */
import type { ChunkId, LogId } from "./ids.ts";
import type { OutputOp, TabStatus } from "./op.ts";
import { type Stamp, zeroStamp } from "./order.ts";
import type { OpenCell, QueuedCell, RowCell, SealedCell } from "./row.ts";

export type LiveOutputState = Omit<OutputOp, "op">;

/** Each id stands in at most one of `queue`, `open` and `sealed`. Parts that did not change keep their identity. */
export interface TabState {
  readonly logId: LogId | null;
  /** Everything at or below is known. */
  readonly version: Stamp;
  /** The highest stamp that was heard of. Above `version`: something is missing, ask for a head. */
  readonly seen: Stamp;
  /** Where a `log` op pointed to; the head that follows is of this log. */
  readonly nextLogId: LogId | null;
  readonly queue: ReadonlyMap<ChunkId, QueuedCell>;
  readonly open: ReadonlyMap<ChunkId, OpenCell>;
  readonly sealed: ReadonlyMap<ChunkId, SealedCell>;
  /** Newest row that the owner is known to have sealed. */
  readonly tail: number;
  readonly status: TabStatus;
  readonly outputs: ReadonlyMap<string, LiveOutputState>;
}

export const idleStatus: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };

export const emptyTabState: TabState = {
  logId: null,
  version: zeroStamp,
  seen: zeroStamp,
  nextLogId: null,
  queue: new Map(),
  open: new Map(),
  sealed: new Map(),
  tail: 0,
  status: idleStatus,
  outputs: new Map(),
};

/** The cell of an id, or undefined when nothing is known of it (it may have ended: see `TabState`). */
export const cellOf = (state: TabState, id: ChunkId): RowCell | undefined =>
  state.open.get(id) ?? state.queue.get(id) ?? state.sealed.get(id);

/** Forgets sealed rows: a window was trimmed. They can be read again at any time. */
export function forgetRows(state: TabState, ids: Iterable<ChunkId>): TabState {
  const sealed = new Map(state.sealed);
  for (const id of ids) sealed.delete(id);
  return sealed.size === state.sealed.size ? state : { ...state, sealed };
}
