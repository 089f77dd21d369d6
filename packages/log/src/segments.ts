/**
 * A log that was forked holds no copy of its parent's rows: it is a list of segments, each a range of seqs and the log
 * whose rows stand there. The list is resolved once, when the log is made, and never changes, so a page costs the
 * segments it touches, however long the ancestry.
 *
 *   root   1 2 3 4 5 6 7 ...
 *   child  1 2 3 4 | 5 6 7 ...          = root 1-4, own from 5
 *   forked again at 6: root 1-4, child 5-6, own from 7;  forked again at 3: root 1-3, own from 4
 */
import type { LogId } from "@varve/protocol";

/** Rows `lo` to `hi`, both included, stand in `source`. The last segment is the log's own and has no end. */
export interface Segment {
  readonly source: LogId;
  readonly lo: number;
  readonly hi: number;
}

/** Segments of one log. A fork that would need more is refused: nobody forks this often by hand. */
export const segmentsMax = 1000;

export const rootSegments = (logId: LogId): readonly Segment[] => [{ source: logId, lo: 1, hi: Infinity }];

/** The last seq that a log shares with its parent; 0 without one. */
export const forkPoint = (segments: readonly Segment[]): number => (segments.at(-1)?.lo ?? 1) - 1;

/** Null when the child would have more than `segmentsMax`. */
export function childSegments(parent: readonly Segment[], child: LogId, parentSeq: number): readonly Segment[] | null {
  const shared = parent
    .filter((segment) => segment.lo <= parentSeq)
    .map((segment) => ({ ...segment, hi: Math.min(segment.hi, parentSeq) }));
  if (shared.length >= segmentsMax) return null;
  return [...shared, { source: child, lo: parentSeq + 1, hi: Infinity }];
}

/** The parts of the segments within `lo` to `hi`, ascending. */
export function segmentsWithin(segments: readonly Segment[], lo: number, hi: number): readonly Segment[] {
  return segments
    .filter((segment) => segment.lo <= hi && segment.hi >= lo)
    .map((segment) => ({ source: segment.source, lo: Math.max(lo, segment.lo), hi: Math.min(hi, segment.hi) }));
}
