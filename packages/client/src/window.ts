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

export interface Eviction {
  /** From the end that is farther from what is read. */
  readonly end: "low" | "high";
  /** Never evicted: rows whose acceptance this client has not heard of. */
  readonly pinned: ReadonlySet<ChunkId>;
}

/** How many rows must leave at the given end so that the window is within its limits. One row always stays. */
export function evictable(rows: readonly LogChunk[], eviction: Eviction): number {
  let bytes = 0;
  for (const row of rows) bytes += rowSize(row);
  let count = 0;
  while (rows.length - count > 1 && (rows.length - count > limits.windowRowsMax || bytes > limits.windowBytesMax)) {
    const row = rows[eviction.end === "low" ? count : rows.length - 1 - count];
    if (row === undefined || eviction.pinned.has(row.id)) break;
    bytes -= rowSize(row);
    count += 1;
  }
  return count;
}
