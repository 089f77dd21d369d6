import type { ChunkId, Fault, LogId, StoredRow, TabId } from "@varve/protocol";
import type { BillEntry, InboxRecord, LogEntry, LogTarget, TabEntry } from "../log.ts";
import { beyondTail, chainTooDeep, foreignLog, logIdTaken, unknownLog } from "../refusals.ts";
import { childSegments, rootSegments, type Segment, segmentsMax, segmentsWithin } from "../segments.ts";

/** A row with the size that paging counts. */
export interface KeptRow {
  readonly row: StoredRow;
  readonly units: number;
}
export interface MemoryRows {
  readonly entry: Omit<LogEntry, "tail">;
  readonly segments: readonly Segment[];
  /** The log's own rows; the first has seq `entry.parentSeq + 1`. */
  rows: KeptRow[];
  readonly seqs: Map<ChunkId, number>;
  /** Whose list of logs it is on; null once that tab was purged. */
  owner: TabId | null;
}
export interface LogPlace {
  readonly tail: number;
  readonly term: number;
}

/** Everything that a memory log holds, with the look-ups that both its halves need. Changed by its owner alone. */
export class MemoryState {
  readonly tabs = new Map<TabId, TabEntry>();
  readonly logs = new Map<LogId, MemoryRows>();
  readonly inbox = new Map<ChunkId, InboxRecord>();
  /** In the order of sealing; a purge leaves it as it is. */
  readonly bills: BillEntry[] = [];
  readonly formerParents = new Map<TabId, TabId>();

  tailOf(log: MemoryRows): number {
    return log.entry.parentSeq + log.rows.length;
  }

  rowAt(log: MemoryRows, seq: number): KeptRow | null {
    const segment = log.segments.find(({ lo, hi }) => lo <= seq && seq <= hi);
    const source = segment === undefined ? undefined : this.logs.get(segment.source);
    return source?.rows[seq - source.entry.parentSeq - 1] ?? null;
  }

  /** Rows of `lo` to `hi`, ascending; nothing where there is none. */
  *rowsBetween(log: MemoryRows, lo: number, hi: number): Iterable<KeptRow> {
    for (const segment of segmentsWithin(log.segments, lo, Math.min(hi, this.tailOf(log)))) {
      for (let seq = segment.lo; seq <= segment.hi; seq++) {
        const kept = this.rowAt(log, seq);
        if (kept !== null) yield kept;
      }
    }
  }

  seqOf(log: MemoryRows, id: ChunkId): number | null {
    for (const { source, lo, hi } of log.segments) {
      const seq = this.logs.get(source)?.seqs.get(id);
      if (seq !== undefined && seq >= lo && seq <= hi) return seq;
    }
    return null;
  }

  makeLog(target: Exclude<LogTarget, { kind: "earlier" }>, owner: TabId, createdAt: number): LogPlace | Fault {
    const { logId } = target;
    if (this.logs.has(logId)) return logIdTaken(logId);
    if (target.kind === "child") return this.#makeChild(target, owner, createdAt);
    const entry = { id: logId, parentId: null, parentSeq: 0, createdAt };
    this.logs.set(logId, { entry, segments: rootSegments(logId), rows: [], seqs: new Map(), owner });
    return { tail: 0, term: 0 };
  }

  placeOf(tabId: TabId, logId: LogId): LogPlace | Fault {
    const log = this.logs.get(logId);
    if (log?.owner !== tabId) return foreignLog(logId);
    const tail = this.tailOf(log);
    return { tail, term: this.rowAt(log, tail)?.row.term ?? 0 };
  }

  /** What waits in a tab, in queue order. */
  waiting(tabId: TabId): readonly InboxRecord[] {
    const own = [...this.inbox.values()].filter(
      (record) => record.tabId === tabId && (record.state === "queued" || record.state === "held"),
    );
    return own.sort((a, b) => a.position - b.position);
  }

  #makeChild(target: Extract<LogTarget, { kind: "child" }>, owner: TabId, createdAt: number): LogPlace | Fault {
    const { logId, parentId, parentSeq } = target;
    const parent = this.logs.get(parentId);
    if (parent === undefined) return unknownLog(parentId);
    if (!Number.isSafeInteger(parentSeq) || parentSeq < 0 || parentSeq > this.tailOf(parent))
      return beyondTail(parentId, parentSeq);
    const segments = childSegments(parent.segments, logId, parentSeq);
    if (segments === null) return chainTooDeep(segmentsMax);
    const entry = { id: logId, parentId, parentSeq, createdAt };
    this.logs.set(logId, { entry, segments, rows: [], seqs: new Map(), owner });
    return { tail: parentSeq, term: this.rowAt(parent, parentSeq)?.row.term ?? 0 };
  }
}
