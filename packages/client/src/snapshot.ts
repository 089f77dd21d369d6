/**
 * What views see, derived from a `TabView`. A part of the snapshot keeps its identity while what it was derived from does,
 * and so does the view of each open block, so that a view renders only what changed.
 */
import { byPlace, byPosition, cellOf, type OpenCell, type QueuedMessage, type TabState } from "@varve/protocol";
import type { LiveOutput, OpenView, PendingMessage, TabSnapshot } from "./client.ts";
import { type TabView, windowHi, windowLo } from "./tab-view.ts";

export type Paging = "older" | "newer" | null;

export function firstSnapshot(view: TabView, paging: Paging): TabSnapshot {
  return {
    tabId: view.tabId,
    logId: view.state.logId,
    rows: view.rows,
    open: openOf(view.state.open, [], new Map()),
    queue: queueOf(view.state.queue),
    pending: pendingOf(view),
    outputs: outputsOf(view.state),
    status: view.state.status,
    window: windowOf(view, paging),
    ready: view.ready,
    sync: view.sync,
    lost: view.outbox.lost,
  };
}

/** The snapshot of `to`, with all parts of the former one that still hold. */
export function nextSnapshot(
  from: { readonly view: TabView; readonly snapshot: TabSnapshot },
  to: TabView,
  paging: Paging,
): TabSnapshot {
  const { view, snapshot } = from;
  const window = windowOf(to, paging);
  const pendingHolds = view.outbox.pending === to.outbox.pending && sameIds(view.state, to.state);
  return {
    tabId: to.tabId,
    logId: to.state.logId,
    rows: to.rows,
    open: view.state.open === to.state.open ? snapshot.open : openOf(to.state.open, snapshot.open, view.state.open),
    queue: view.state.queue === to.state.queue ? snapshot.queue : queueOf(to.state.queue),
    pending: pendingHolds ? snapshot.pending : pendingOf(to),
    outputs: view.state.outputs === to.state.outputs ? snapshot.outputs : outputsOf(to.state),
    status: to.state.status,
    window: sameWindow(snapshot.window, window) ? snapshot.window : window,
    ready: to.ready,
    sync: to.sync,
    lost: to.outbox.lost,
  };
}

/** Open blocks never carry the id of a message, so they don't decide what is pending. */
const sameIds = (a: TabState, b: TabState): boolean => a.queue === b.queue && a.sealed === b.sealed;

function openOf(
  cells: TabState["open"],
  formerViews: readonly OpenView[],
  formerCells: TabState["open"],
): readonly OpenView[] {
  const views = new Map(formerViews.map((view) => [view.id, view]));
  const viewOf = (cell: OpenCell): OpenView => {
    const former = formerCells.get(cell.id) === cell ? views.get(cell.id) : undefined;
    return former ?? { ...cell.block, text: cell.text };
  };
  return Array.from(cells.values(), viewOf).sort(byPlace);
}

const queueOf = (cells: TabState["queue"]): readonly QueuedMessage[] =>
  Array.from(cells.values(), (cell) => cell.message).sort(byPosition);

function pendingOf(view: TabView): readonly PendingMessage[] {
  if (view.outbox.pending.length === 0) return view.outbox.pending;
  return view.outbox.pending.filter((entry) => cellOf(view.state, entry.id) === undefined);
}

const outputsOf = (state: TabState): ReadonlyMap<string, LiveOutput> => state.outputs;

function windowOf(view: TabView, paging: Paging): TabSnapshot["window"] {
  const tail = view.state.tail;
  const unread = view.attached ? 0 : Math.max(0, tail - view.unreadFrom);
  return { lo: windowLo(view), hi: windowHi(view), tail, attached: view.attached, unread, paging };
}

const sameWindow = (a: TabSnapshot["window"], b: TabSnapshot["window"]): boolean =>
  a.lo === b.lo &&
  a.hi === b.hi &&
  a.tail === b.tail &&
  a.attached === b.attached &&
  a.unread === b.unread &&
  a.paging === b.paging;
