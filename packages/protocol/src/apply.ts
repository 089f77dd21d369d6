/**
 * A tab as its stream of ops and heads describes it: `applyOps` and `applyHead` are the only ways in which it changes.
 * Used by clients on what they receive and by a tab's owner on what it emits, so both hold the same by construction.
 *
 * The version is the stamp up to which everything is known: the effect of each op at or below it is in the state, except
 * sealed rows that were not kept. From this follows how an op is treated:
 *
 *     at or below the version   it is known: nothing happens, so a late copy cannot bring back what has ended
 *     next after the version    it is applied, and the version moves
 *     anything else             it cannot be placed: the whole frame is left alone, and a new head is asked for
 *
 * A head replaces what it dominates. Deltas and outputs take no stamp of their own: a delta is placed by its offset in
 * the block's text, an output by its count of bytes. Sealed rows are a fact wherever they come from, but only under the
 * log and term that are current (a restored database gives a seq to another row).
 */
import type { LogChunk } from "./chunk.ts";
import type { HeadFrame, OpenBlock, OpsFrame } from "./frame.ts";
import type { ChunkId } from "./ids.ts";
import type { Op } from "./op.ts";
import { compareStamps, laterStamp, type Stamp } from "./order.ts";
import type { OpenCell, QueuedCell, SealedCell } from "./row.ts";
import { TabDraft } from "./tab-draft.ts";
import type { LiveOutputState, TabState } from "./tab-state.ts";

export type ResubReason =
  /** Ops are missing between what is known and this frame. */
  | "ahead"
  /** The frame is of a log that this state does not hold. */
  | "other-log"
  /** Text is missing between what is held of an open block and what came. */
  | "gap";
export type ApplyOutcome =
  | { readonly kind: "applied"; readonly state: TabState }
  /** Nothing in it was new; the state stays. */
  | { readonly kind: "stale" }
  /** It cannot be placed. `state` only remembers that it was seen; ask for a head. */
  | { readonly kind: "resub"; readonly state: TabState; readonly reason: ResubReason };

export interface ApplyOptions {
  /** Which newly sealed rows stay in `sealed`. An owner keeps none, a client those of its window. Default: all. */
  readonly keep?: (row: LogChunk) => boolean;
}

const keepAll = (): boolean => true;
const stale: ApplyOutcome = { kind: "stale" };

/** True for ops that take a stamp of their own. */
export const isStamped = (op: Op): boolean => op.op !== "chunk-delta" && op.op !== "output";

/** The ids of messages and blocks whose fate an op tells. */
export function namedId(op: Op): ChunkId | null {
  switch (op.op) {
    case "chunk-seal":
      return op.row.id;
    case "message-queued":
    case "message-dropped":
      return op.id;
    case "chunk-open":
    case "chunk-delta":
    case "status":
    case "log":
    case "output":
      return null;
    default:
      // An op of a later minor version names nothing that this one knows.
      op satisfies never;
      return null;
  }
}

/** Applies a frame as a whole or not at all. */
export function applyOps(state: TabState, frame: OpsFrame, options: ApplyOptions = {}): ApplyOutcome {
  const last: Stamp = [frame.term, frame.b];
  if (frame.log !== state.logId) {
    return compareStamps(last, state.version) > 0 ? resub(state, last, "other-log") : stale;
  }
  if (frame.term < state.version[0]) return stale;
  if (frame.term > state.version[0] || frame.a > state.version[1] + 1) return resub(state, last, "ahead");
  const stamped = frame.ops.reduce((count, op) => count + (isStamped(op) ? 1 : 0), 0);
  if (stamped !== frame.b - frame.a + 1) return resub(state, last, "ahead");
  const draft = new TabDraft(state, options.keep ?? keepAll);
  let n = frame.a - 1;
  for (const op of frame.ops) {
    if (isStamped(op)) {
      n += 1;
      if (n > state.version[1]) draft.put(op, [frame.term, n]);
    } else if (op.op === "chunk-delta") {
      if (!draft.grow(op)) return resub(state, last, "gap");
    } else if (op.op === "output" && frame.b >= state.version[1]) {
      draft.output(op);
    }
  }
  const next = draft.done(laterStamp(last, state.version));
  return next === state ? stale : { kind: "applied", state: next };
}

/**
 * Applies one op at its stamp, as the owner of a tab does with what it emits: in order and without gaps. The stamp of a
 * delta or an output is the version itself. A delta that does not fit leaves the state as it was.
 */
export function applyOp(
  state: TabState,
  op: Op,
  at: { readonly stamp: Stamp; readonly options?: ApplyOptions },
): TabState {
  const draft = new TabDraft(state, at.options?.keep ?? keepAll);
  if (op.op === "chunk-delta") draft.grow(op);
  else if (op.op === "output") draft.output(op);
  else draft.put(op, at.stamp);
  return draft.done(laterStamp(at.stamp, state.version));
}

export interface HeadOptions extends ApplyOptions {
  /**
   * The head is the first answer to the subscription that waits on the current connection. Only then is one of an
   * earlier term believed: it was made after it was asked for, so a clock has gone back, not the truth.
   */
  readonly answersSub: boolean;
}

/**
 * Takes a head over: everything that it does not list and that is not later than it is gone, listed cells are joined.
 * Rows in `append` mode: those above `from` are forgotten first, for only the rows up to there were vouched for. A gap
 * between `from` and the first row given is left for the caller, who knows its window.
 */
export function applyHead(state: TabState, head: HeadFrame, options: HeadOptions): ApplyOutcome {
  const at: Stamp = [head.term, head.n];
  const order = placeHead(state, head, options.answersSub);
  if (order === "stale") return stale;
  if (order === "unexplained") return resub(state, at, "other-log");
  const wiped = head.mode === "reset" || head.log !== state.logId;
  const open = openOfHead(head, state.open, at);
  if (open === null) return resub(state, at, "gap");
  const keep = options.keep ?? keepAll;
  const sealed = new Map<ChunkId, SealedCell>();
  if (!wiped) for (const [id, cell] of state.sealed) if (cell.row.seq <= head.from) sealed.set(id, cell);
  for (const row of head.rows) if (keep(row)) sealed.set(row.id, { state: "sealed", id: row.id, row });
  const queue = new Map<ChunkId, QueuedCell>();
  for (const message of head.queue) queue.set(message.id, { state: "queued", id: message.id, message, at });
  return {
    kind: "applied",
    state: {
      logId: head.log,
      version: at,
      seen: at,
      nextLogId: null,
      queue,
      open,
      sealed,
      tail: head.tail,
      status: head.status,
      outputs: outputsOfHead(head, state.outputs),
    },
  };
}

/** Joins rows of a page. The caller has checked that the page is of the state's log and term. */
export function applyRows(state: TabState, rows: readonly LogChunk[]): TabState {
  const fresh = rows.filter((row) => !state.sealed.has(row.id));
  if (fresh.length === 0) return state;
  const draft = new TabDraft(state, keepAll);
  for (const row of fresh) draft.seal(row);
  return draft.done(state.version);
}

function resub(state: TabState, at: Stamp, reason: ResubReason): ApplyOutcome {
  return { kind: "resub", reason, state: { ...state, seen: laterStamp(state.seen, at) } };
}

/**
 * Whether a head is newer than the state. One that says the same as the state is taken over again: it may fill a gap.
 * Counters of two logs cannot be compared, so within a term only what was asked for or announced leads to another log.
 */
function placeHead(state: TabState, head: HeadFrame, answersSub: boolean): "newer" | "stale" | "unexplained" {
  if (head.term !== state.version[0]) return head.term > state.version[0] || answersSub ? "newer" : "stale";
  if (head.log === state.logId) return head.n >= state.version[1] ? "newer" : "stale";
  return answersSub || head.log === state.nextLogId ? "newer" : "unexplained";
}

/** The open blocks after a head, with text from the first character on; null when text is missing in between. */
function openOfHead(
  head: HeadFrame,
  held: ReadonlyMap<ChunkId, OpenCell>,
  at: Stamp,
): ReadonlyMap<ChunkId, OpenCell> | null {
  const open = new Map<ChunkId, OpenCell>();
  for (const listed of head.open) {
    const mine = held.get(listed.id);
    const known = mine?.text ?? "";
    if (listed.offset > known.length) return null;
    const whole = known.slice(0, listed.offset) + listed.text;
    const text = known.length > whole.length ? known : whole;
    open.set(listed.id, { state: "open", id: listed.id, block: mine?.block ?? blockOf(listed), text, at });
  }
  return open;
}

/** Of the listed outputs the later ones: output that came after the head was made may have been applied already. */
function outputsOfHead(
  head: HeadFrame,
  held: ReadonlyMap<string, LiveOutputState>,
): ReadonlyMap<string, LiveOutputState> {
  const outputs = new Map<string, LiveOutputState>();
  for (const listed of head.outputs) {
    const mine = held.get(listed.callId);
    outputs.set(listed.callId, mine !== undefined && mine.bytes > listed.bytes ? mine : listed);
  }
  return outputs;
}

function blockOf(listed: OpenBlock): OpenCell["block"] {
  const { offset: _offset, text: _text, ...block } = listed;
  return block;
}
