/**
 * Everything a client holds of one tab, and every way in which it changes. Pure: frames, pages and acts of a person go
 * in, a new view and what must be done about it come out.
 *
 *     what is known (TabState, by stamp)  x  window of sealed rows (a view)  x  outbox (own intent)
 *
 * Each id is shown in exactly one of rows, open, queue and pending: the first three are one map by id in three parts, and
 * an outbox entry is shown only while none of them holds its id.
 */
import {
  applyHead,
  applyOps,
  applyRows,
  type ChunkId,
  cellOf,
  compareStamps,
  emptyTabState,
  forgetRows,
  type HeadFrame,
  type LogChunk,
  namedId,
  type Op,
  type OpsFrame,
  type Page,
  type TabId,
  type TabState,
} from "@varve/protocol";
import type { StoredOutboxEntry, SyncCheck } from "./client.ts";
import { type Evidence, emptyOutbox, findLost, type Outbox, type StoreChange, takeEvidence } from "./outbox.ts";
import { denseRun, type WindowMost, windowMost, withinLimits } from "./window.ts";

export interface TabView {
  readonly tabId: TabId;
  readonly state: TabState;
  /** The window: exactly the sealed rows of `state`, ascending and dense. */
  readonly rows: readonly LogChunk[];
  /** The sealed rows that `rows` was made from. */
  readonly rowsOf: TabState["sealed"];
  readonly attached: boolean;
  /** What is read: the end of the log, or older rows. Decides which end of the window is evicted. */
  readonly reading: "end" | "older";
  /** The tail when the window was detached: newer rows count as unread. */
  readonly unreadFrom: number;
  readonly outbox: Outbox;
  /** A head came. */
  readonly ready: boolean;
  /** How much the window holds. A small one behaves like a large one, so proofs choose it. */
  readonly most: WindowMost;
  /** The last comparison of `rows` with the server's. Rows that were wiped since make it unknown again. */
  readonly sync: SyncCheck;
}

export type Resub =
  | "none"
  /** Something is missing: subscribe again. */
  | "needed"
  /** Also the text of open blocks cannot be continued: ask for all of it. */
  | "whole";
export interface ViewStep {
  readonly view: TabView;
  readonly resub: Resub;
  readonly changes: readonly StoreChange[];
  /** Accepted messages that may have been lost in a restore: the server is asked what became of them. */
  readonly unsure: readonly StoredOutboxEntry[];
}

const unchecked: SyncCheck = { state: "unknown", lo: 0, hi: 0, at: 0, mismatches: 0 };

export const emptyView = (tabId: TabId, most: WindowMost = windowMost): TabView => ({
  tabId,
  state: emptyTabState,
  rows: [],
  rowsOf: emptyTabState.sealed,
  attached: true,
  reading: "end",
  unreadFrom: 0,
  outbox: emptyOutbox,
  ready: false,
  most,
  sync: unchecked,
});

export const windowLo = (view: TabView): number => view.rows[0]?.seq ?? 0;
export const windowHi = (view: TabView): number => view.rows.at(-1)?.seq ?? 0;

const settled = (view: TabView, resub: Resub): ViewStep => ({ view, resub, changes: [], unsure: [] });

/** A view from which nothing follows but that it is shown. */
export const viewStep = (view: TabView): ViewStep => settled(view, "none");

/** Ops of the tab. Only those that can be placed are evidence for the outbox. */
export function takeOps(view: TabView, frame: OpsFrame, now: number): ViewStep {
  const outcome = applyOps(view.state, frame, { keep: continuing(view) });
  if (outcome.kind === "stale") return settled(view, "none");
  if (outcome.kind === "resub") {
    return settled({ ...view, state: outcome.state }, outcome.reason === "gap" ? "whole" : "needed");
  }
  const evidence = frame.ops.flatMap(evidenceOf);
  return finish({ ...view, state: outcome.state }, evidence, now);
}

/** Which new rows continue the window. One behind a gap would push out what is shown: the head that is asked for brings it. */
function continuing(view: TabView): (row: LogChunk) => boolean {
  const lo = windowLo(view);
  let next = view.rows.length === 0 ? Number.POSITIVE_INFINITY : windowHi(view) + 1;
  return (row) => {
    const keeps = view.attached && row.seq >= lo && row.seq <= next;
    if (keeps && row.seq === next) next += 1;
    return keeps;
  };
}

/** A head, by the handshake's rules. `answersSub`: it is the first answer to the subscription that waits. */
export function takeHead(
  view: TabView,
  head: HeadFrame,
  options: { readonly answersSub: boolean; readonly now: number },
): ViewStep {
  const wipes = head.mode === "reset" || head.log !== view.state.logId;
  const heldHi = Math.min(windowHi(view), head.from);
  const hole = view.rows.length > 0 && (head.rows[0]?.seq ?? heldHi + 1) > heldHi + 1;
  const detaches = !wipes && (!view.attached || (hole && view.reading === "older"));
  const keep = (): boolean => !detaches;
  const outcome = applyHead(view.state, head, { answersSub: options.answersSub, keep });
  if (outcome.kind === "stale") return settled(view, behind(view.state) ? "needed" : "none");
  if (outcome.kind === "resub") {
    return settled({ ...view, state: outcome.state }, outcome.reason === "gap" ? "whole" : "needed");
  }
  const evidence: Evidence[] = [
    ...head.rows.map((row) => ({ id: row.id, fate: "accepted" as const, seq: row.seq })),
    ...head.queue.map((message) => ({ id: message.id, fate: "accepted" as const })),
  ];
  const unreadFrom = view.attached && detaches ? view.state.tail : Math.min(view.unreadFrom, head.tail);
  const taken: TabView = {
    ...view,
    state: outcome.state,
    ready: true,
    attached: wipes || !detaches,
    reading: wipes ? "end" : view.reading,
    unreadFrom,
    sync: wipes && view.sync.state !== "checking" ? { ...unchecked, mismatches: view.sync.mismatches } : view.sync,
  };
  const step = finish(taken, evidence, options.now);
  if (!mayBeRestored(view, head)) return step;
  const verdict = findLost(step.view.outbox, head, !view.ready);
  return { ...step, view: { ...step.view, outbox: verdict.outbox }, unsure: verdict.unsure };
}

/** A head of another term, or one that wipes the rows of the very log that was held. */
function mayBeRestored(view: TabView, head: HeadFrame): boolean {
  if (!view.ready) return true;
  return head.log === view.state.logId && (head.mode === "reset" || head.term !== view.state.version[0]);
}

/**
 * Accepted messages that came out of the store behind the head, so that it did not decide on them: those that only another
 * term is known to have may have been lost in a restore.
 */
export function doubtLate(view: TabView, late: readonly StoredOutboxEntry[]): readonly StoredOutboxEntry[] {
  if (!view.ready) return [];
  const { logId, version } = view.state;
  const ids = new Set(late.map((entry) => entry.id));
  return view.outbox.kept.filter(
    (entry) =>
      ids.has(entry.id) &&
      entry.logId === logId &&
      entry.term !== version[0] &&
      cellOf(view.state, entry.id) === undefined,
  );
}

/** True when the page can be joined to this window: same log and term, and next to it. */
export function fitsPage(view: TabView, page: Page, side: "older" | "newer" | "end"): boolean {
  if (!view.ready || page.logId !== view.state.logId || page.term !== view.state.version[0]) return false;
  if (side === "end" || view.rows.length === 0) return true;
  if (page.chunks.length === 0) return true;
  return side === "older" ? page.chunks.at(-1)?.seq === windowLo(view) - 1 : page.chunks[0]?.seq === windowHi(view) + 1;
}

/**
 * Joins a page that fits. It is never evidence for the outbox: it was read beside the stream, not in it.
 * `end` replaces the window by the last page and attaches it.
 */
export function takePage(view: TabView, page: Page, side: "older" | "newer" | "end"): ViewStep {
  const base = side === "end" ? { ...view, state: forgetRows(view.state, view.state.sealed.keys()) } : view;
  const joined = applyRows(base.state, page.chunks);
  const state = page.tail > joined.tail ? { ...joined, tail: page.tail } : joined;
  const hi = page.chunks.at(-1)?.seq ?? windowHi(view);
  const attached = side === "end" || view.attached || (side === "newer" && hi >= state.tail);
  const next: TabView = { ...base, state, attached, reading: side === "older" ? "older" : "end" };
  const trimmed = trim(next);
  return settled(trimmed, trimmed.attached && windowHi(trimmed) !== state.tail ? "needed" : "none");
}

/**
 * Puts rows that were read anew, ascending and of the current log and term, in the place of those that are held. The window
 * stays where it is now: rows beyond it are left out.
 */
export function replaceRows(view: TabView, fresh: readonly LogChunk[]): ViewStep {
  const [lo, hi] = [windowLo(view), windowHi(view)];
  const inside = fresh.filter((row) => row.seq >= lo && row.seq <= hi);
  const [from, to] = [inside[0]?.seq ?? 0, inside.at(-1)?.seq ?? 0];
  const ids = new Set(inside.map((row) => row.id));
  const replaced = view.rows.filter((row) => ids.has(row.id) || (row.seq >= from && row.seq <= to));
  const emptied = forgetRows(
    view.state,
    replaced.map((row) => row.id),
  );
  const next = trim({ ...view, state: applyRows(emptied, inside) });
  return settled(next, next.attached && windowHi(next) !== next.state.tail ? "needed" : "none");
}

/** The person reads at the end of the log, or not. */
export const readAtEnd = (view: TabView): TabView =>
  view.attached && view.reading === "older" ? { ...view, reading: "end" } : view;

/** An `ack` of a message. Queued or held says nothing yet: the op that always goes before it does. */
export function ackEvidence(id: ChunkId, state: string, seq: number | undefined): readonly Evidence[] {
  if (state === "sealed") return [{ id, fate: "accepted", seq }];
  return state === "dropped" ? [{ id, fate: "dropped" }] : [];
}

function evidenceOf(op: Op): readonly Evidence[] {
  const id = namedId(op);
  if (id === null) return [];
  if (op.op === "message-dropped") return [{ id, fate: "dropped" }];
  return [{ id, fate: "accepted", seq: op.op === "chunk-seal" ? op.row.seq : undefined }];
}

/** What every change of the state ends with: the outbox hears of it, the window is trimmed, and what is missing shows. */
function finish(view: TabView, evidence: readonly Evidence[], now: number): ViewStep {
  const logId = view.state.logId;
  const step =
    logId === null || evidence.length === 0
      ? { outbox: view.outbox, changes: [] }
      : takeEvidence(view.outbox, evidence, { tabId: view.tabId, logId, term: view.state.version[0], now });
  const trimmed = trim({ ...view, outbox: step.outbox });
  const next = trimmed.attached || windowHi(trimmed) < trimmed.state.tail ? trimmed : { ...trimmed, attached: true };
  const missing = (next.attached && windowHi(next) !== next.state.tail) || behind(next.state);
  return { view: next, resub: missing ? "needed" : "none", changes: step.changes, unsure: [] };
}

const behind = (state: TabState): boolean => compareStamps(state.seen, state.version) > 0;

/** Makes `rows` the dense window of the state's sealed rows again, within its limits. */
export function trim(view: TabView): TabView {
  const sealed = view.state.sealed;
  const held = sealed === view.rowsOf;
  if (held && view.outbox.pending.length === 0) return view;
  const run = held
    ? view.rows
    : denseRun(
        Array.from(sealed.values(), (cell) => cell.row),
        view.attached ? "high" : "low",
      );
  const pinned = new Set(view.outbox.pending.map((entry) => entry.id));
  const rows = withinLimits(run, { end: view.reading === "end" ? "low" : "high", pinned, most: view.most });
  const state = rows.length === sealed.size ? view.state : forgetRows(view.state, leaving(sealed.keys(), rows));
  const trimmed: TabView = { ...view, state, rows, rowsOf: state.sealed };
  if (rows.at(-1) === run.at(-1)) return trimmed;
  return { ...trimmed, attached: false, unreadFrom: view.attached ? view.state.tail : view.unreadFrom };
}

function leaving(ids: Iterable<ChunkId>, rows: readonly LogChunk[]): readonly ChunkId[] {
  const stays = new Set(rows.map((row) => row.id));
  return [...ids].filter((id) => !stays.has(id));
}
