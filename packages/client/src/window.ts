/**
 * The window of sealed rows that a client keeps: a dense run `lo..hi` of the log. It is a view, never part of what is
 * known: rows that leave it can be read again at any time, so trimming it may happen at any later moment.
 *
 * Attached, its high end is the end of the log and grows with it. Detached (the high end was evicted or never read),
 * newer rows only raise the tail.
 */
import { bySeq, type ChunkId, type LogChunk, limits } from "@varve/protocol";

const sizes = new WeakMap<LogChunk, number>();

/** UTF-16 units of the row's JSON. Rows never change, so it is computed once for each. */
export function rowSize(row: LogChunk): number {
  let size = sizes.get(row);
  if (size === undefined) {
    size = JSON.stringify(row.data).length + 200;
    sizes.set(row, size);
  }
  return size;
}

/** The rows in order, cut to the dense run that holds the wanted end. Holes come from nowhere but a faulty server. */
export function denseRun(rows: readonly LogChunk[], end: "low" | "high"): readonly LogChunk[] {
  const sorted = [...rows].sort(bySeq);
  if (end === "low") {
    const hole = sorted.findIndex((row, i) => i > 0 && row.seq !== (sorted[i - 1]?.seq ?? 0) + 1);
    return hole < 0 ? sorted : sorted.slice(0, hole);
  }
  const hole = sorted.findLastIndex((row, i) => i > 0 && row.seq !== (sorted[i - 1]?.seq ?? 0) + 1);
  return hole < 0 ? sorted : sorted.slice(hole);
}

/** How much a window holds. */
export interface WindowMost {
  readonly rows: number;
  /** UTF-16 units of the rows' JSON. */
  readonly bytes: number;
}
export const windowMost: WindowMost = { rows: limits.windowRowsMax, bytes: limits.windowBytesMax };

export interface Eviction {
  /** Where rows leave first: the end that is farther from what is read. */
  readonly end: "low" | "high";
  /** Never evicted: rows whose acceptance this client has not heard of. */
  readonly pinned: ReadonlySet<ChunkId>;
  /** Default: the limits of the protocol. */
  readonly most?: WindowMost;
}

/**
 * The part of the rows that is within the limits of a window. Rows leave at the given end; when a pinned one stands there,
 * at the other. One row always stays.
 */
export function withinLimits(rows: readonly LogChunk[], eviction: Eviction): readonly LogChunk[] {
  const most = eviction.most ?? windowMost;
  let bytes = 0;
  for (const row of rows) bytes += rowSize(row);
  let [from, to] = [0, rows.length];
  const evict = (end: Eviction["end"]): boolean => {
    const row = rows[end === "low" ? from : to - 1];
    if (row === undefined || eviction.pinned.has(row.id)) return false;
    bytes -= rowSize(row);
    if (end === "low") from += 1;
    else to -= 1;
    return true;
  };
  const other = eviction.end === "low" ? "high" : "low";
  while (to - from > 1 && (to - from > most.rows || bytes > most.bytes)) {
    if (!evict(eviction.end) && !evict(other)) break;
  }
  return from === 0 && to === rows.length ? rows : rows.slice(from, to);
}
