import type { Fault, LogId, TabId } from "@varve/protocol";
import { assert } from "@varve/protocol";
import type { LogTarget } from "../log.ts";
import { beyondTail, chainTooDeep, foreignLog, logIdTaken, unknownLog } from "../refusals.ts";
import { childSegments, type Segment, segmentsMax } from "../segments.ts";
import { number, text } from "./decode.ts";
import type { Store } from "./store.ts";

/** Where a tab stands that points to a log: its tail, and the term of the row there. */
export interface LogPlace {
  readonly tail: number;
  readonly term: number;
}
type ChildTarget = Extract<LogTarget, { kind: "child" }>;

/** Makes a fresh log or a child, inside a transaction of the caller. */
export function makeLog(store: Store, target: LogTarget, createdAt: number): LogPlace | Fault {
  assert(target.kind !== "earlier", "an earlier log is not made anew");
  if (store.sql.log.get(target.logId) !== undefined) return logIdTaken(target.logId);
  if (target.kind === "child") return makeChild(store, target, createdAt);
  store.sql.insertLog.run(target.logId, null, 0, createdAt);
  return { tail: 0, term: 0 };
}

function makeChild(store: Store, target: ChildTarget, createdAt: number): LogPlace | Fault {
  const { logId, parentId, parentSeq } = target;
  const parent = store.segmentsOf(parentId);
  if (parent === null) return unknownLog(parentId);
  if (!Number.isSafeInteger(parentSeq) || parentSeq < 0 || parentSeq > store.tailOf(parent))
    return beyondTail(parentId, parentSeq);
  const segments = childSegments(parent, logId, parentSeq);
  if (segments === null) return chainTooDeep(segmentsMax);
  store.sql.insertLog.run(logId, parentId, parentSeq, createdAt);
  for (const { lo, hi, source } of segments) {
    store.sql.insertSegment.run(logId, lo, hi === Infinity ? null : hi, source);
  }
  return { tail: parentSeq, term: termAt(store, segments, parentSeq) };
}

/** An earlier log of the tab itself. */
export function placeOf(store: Store, tabId: TabId, logId: LogId): LogPlace | Fault {
  const owner = store.sql.tabLog.get(logId);
  const segments = store.segmentsOf(logId);
  if (owner === undefined || segments === null || text(owner, "tab_id") !== tabId) return foreignLog(logId);
  const tail = store.tailOf(segments);
  return { tail, term: termAt(store, segments, tail) };
}

/** Terms never go back along a log, so the one at its end is the highest. */
function termAt(store: Store, segments: readonly Segment[], seq: number): number {
  const segment = segments.find(({ lo, hi }) => lo <= seq && seq <= hi);
  const row = segment === undefined ? undefined : store.sql.termAt.get(segment.source, seq);
  return row === undefined ? 0 : number(row, "term");
}
