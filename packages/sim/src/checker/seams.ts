/**
 * How a rule of the client is taken away: what goes into the real functions, or comes out of them, is changed as if the
 * rule were not there. With every rule in force each of these hands on what it was given.
 */

import { forgetMessage, type TabView, trim, type ViewStep, windowHi } from "@varve/client/view";
import {
  type AckFrame,
  applyOp,
  type ChunkId,
  compareStamps,
  type HeadFrame,
  type OpsFrame,
  type Page,
} from "@varve/protocol";
import { isStamped } from "./owner.ts";
import type { Off } from "./rules.ts";

export function headSeenBy(view: TabView, head: HeadFrame, off: Off): HeadFrame {
  if (head.mode === "reset" || head.log !== view.state.logId) return head;
  switch (off) {
    case "head-removes-unlisted": {
      const listed = new Set<ChunkId>([...head.queue, ...head.rows, ...head.open].map((item) => item.id));
      const queue = [...view.state.queue.values()].map((cell) => cell.message);
      const open = [...view.state.open.values()].map((cell) => ({ ...cell.block, offset: 0, text: cell.text }));
      return {
        ...head,
        queue: [...head.queue, ...queue.filter((item) => !listed.has(item.id))],
        open: [...head.open, ...open.filter((item) => !listed.has(item.id))],
      };
    }
    case "head-above-from": {
      const brought = new Set(head.rows.map((row) => row.id));
      const above = view.rows.filter((row) => row.seq > head.from && !brought.has(row.id));
      return above.length === 0 ? head : { ...head, rows: [...head.rows, ...above] };
    }
    default:
      return head;
  }
}

/** An answer that says no more than that the message came. */
export const ackSeenBy = (ack: AckFrame, off: Off): AckFrame =>
  off === "ack-is-evidence" ? { ...ack, state: "queued" } : ack;

/** The outbox is left as it was. */
const withoutEvidence = (step: ViewStep, before: TabView): ViewStep => ({
  ...step,
  view: { ...step.view, outbox: before.outbox },
  changes: [],
});

/** A head that leaves something missing asks again, unless that rule is gone. */
export function afterHead(step: ViewStep, before: TabView, off: Off): ViewStep {
  if (off === "head-is-evidence") return withoutEvidence(step, before);
  if (off !== "hi-is-tail" || step.resub !== "needed") return step;
  const { state, attached } = step.view;
  const isShort = attached && windowHi(step.view) !== state.tail && compareStamps(state.seen, state.version) <= 0;
  return isShort ? { ...step, resub: "none" } : step;
}

/** Without offsets a delta is put behind whatever is held. */
export function opsSeenBy(view: TabView, frame: OpsFrame, off: Off): OpsFrame {
  if (off !== "delta-offset") return frame;
  const lengths = new Map([...view.state.open.values()].map((cell) => [cell.id, cell.text.length]));
  const ops = frame.ops.map((op) => {
    if (op.op !== "chunk-delta") return op;
    const offset = lengths.get(op.id) ?? 0;
    lengths.set(op.id, offset + op.text.length);
    return { ...op, offset };
  });
  return { ...frame, ops };
}

interface Taken {
  readonly before: TabView;
  readonly frame: OpsFrame;
  readonly off: Off;
}
export function afterOps(step: ViewStep, { before, frame, off }: Taken): ViewStep {
  if (off === "op-is-evidence") return withoutEvidence(step, before);
  const isStale = compareStamps([frame.term, frame.b], before.state.version) <= 0;
  const isUnplaced = step.resub !== "none" && step.view.state.version === before.state.version;
  if (off === "stale-ops" && isStale && frame.log === before.state.logId) return appliedAnyway(step, frame);
  if (off === "seen-resub" && isUnplaced) {
    return { ...step, resub: "none", view: { ...step.view, state: { ...step.view.state, seen: before.state.seen } } };
  }
  if (off !== "outbox-not-unplaced" || !isUnplaced) return step;
  const named = frame.ops.flatMap((op) =>
    op.op === "message-queued" ? [op.id] : op.op === "chunk-seal" ? [op.row.id] : [],
  );
  return { ...step, view: forgetting(step.view, named) };
}

/** As if each op were new: it is joined at the version that is held. */
function appliedAnyway(step: ViewStep, frame: OpsFrame): ViewStep {
  const { version } = step.view.state;
  const state = frame.ops
    .filter(isStamped)
    .reduce((held, op) => applyOp(held, op, { stamp: version }), step.view.state);
  return { ...step, view: trim({ ...step.view, state }) };
}

export function pageSeenBy(view: TabView, page: Page, off: Off): Page {
  if (off === "page-log" && view.state.logId !== null) return { ...page, logId: view.state.logId };
  return off === "page-term" ? { ...page, term: view.state.version[0] } : page;
}

export function afterPage(view: TabView, page: Page, off: Off): TabView {
  if (off !== "outbox-not-by-page") return view;
  return forgetting(
    view,
    page.chunks.map((row) => row.id),
  );
}

const forgetting = (view: TabView, ids: readonly ChunkId[]): TabView => {
  const outbox = ids.reduce((held, id) => forgetMessage(held, id).outbox, view.outbox);
  return outbox === view.outbox ? view : { ...view, outbox };
};

/** Without the pin something live leaves with the rows: what waits to be sent, or else what waits at the server. */
export function evictLive(view: TabView): TabView {
  const entry = view.outbox.pending[0];
  if (entry !== undefined) return forgetting(view, [entry.id]);
  const [first] = view.state.queue.keys();
  if (first === undefined) return view;
  const queue = new Map(view.state.queue);
  queue.delete(first);
  return { ...view, state: { ...view.state, queue } };
}
