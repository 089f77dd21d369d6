import type { ChunkId, Fault, LogId, StoredRow } from "@varve/protocol";
import { assert } from "@varve/protocol";
import type { PageQuery, RowsPage } from "../log.ts";
import { pageRowsMax } from "../page-limit.ts";
import { unknownLog } from "../refusals.ts";
import { rowOf, rowUnits } from "../row-text.ts";
import { type Segment, segmentsWithin } from "../segments.ts";
import { frameIn, number, text } from "./decode.ts";
import type { SqlRow } from "./driver.ts";
import type { Store } from "./store.ts";

/** A page of a log, walking its segments from the end that is asked for, and reading no row past the page's end. */
export function readPage(store: Store, query: PageQuery): RowsPage | Fault {
  const { logId, before, after, bytesMax = Infinity } = query;
  assert(before === undefined || after === undefined, "a page is asked for with both before and after");
  const segments = store.segmentsOf(logId);
  if (segments === null) return unknownLog(logId);
  const tail = store.tailOf(segments);
  const range =
    after === undefined ? { lo: 1, hi: Math.min(tail, (before ?? Infinity) - 1) } : { lo: after + 1, hi: tail };
  const limit = Math.min(Math.max(1, query.limit), pageRowsMax);
  const read: Read = { segments: segmentsWithin(segments, range.lo, range.hi), up: after !== undefined, limit };
  const rows: StoredRow[] = [];
  let units = 0;
  for (const raw of readRows(store, read)) {
    const frame = frameIn(raw);
    const data = text(raw, "data_json");
    units += rowUnits(frame, data);
    if (rows.length > 0 && units > bytesMax) break;
    rows.push(rowOf(frame, data));
    if (rows.length === limit) break;
  }
  if (!read.up) rows.reverse();
  return { rows, tail };
}

interface Read {
  readonly segments: readonly Segment[];
  readonly up: boolean;
  readonly limit: number;
}

/** Rows that are read at once: a page may end before any of them, and each may be large. */
const rowsAtOnce = 32;

function* readRows(store: Store, { segments, up, limit }: Read): Iterable<SqlRow> {
  const statement = up ? store.sql.rowsUp : store.sql.rowsDown;
  for (const segment of up ? segments : segments.toReversed()) {
    let { lo, hi } = segment;
    while (lo <= hi) {
      const rows = statement.all(segment.source, lo, finite(hi), Math.min(limit, rowsAtOnce));
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) break;
      if (up) lo = number(last, "seq") + 1;
      else hi = number(last, "seq") - 1;
    }
  }
}

/** SQL has no infinity; no log is longer than this. */
export const finite = (seq: number): number => (seq === Infinity ? Number.MAX_SAFE_INTEGER : seq);

export function readRow(store: Store, logId: LogId, seq: number): StoredRow | null {
  const segment = store.segmentsOf(logId)?.find(({ lo, hi }) => lo <= seq && seq <= hi);
  const raw = segment === undefined ? undefined : store.sql.rowAt.get(segment.source, seq);
  return raw === undefined ? null : rowOf(frameIn(raw), text(raw, "data_json"));
}

export function readRowById(store: Store, logId: LogId, id: ChunkId): StoredRow | null {
  for (const { source, lo, hi } of store.segmentsOf(logId)?.toReversed() ?? []) {
    const raw = store.sql.rowById.get(source, id);
    if (raw === undefined) continue;
    const frame = frameIn(raw);
    if (frame.seq >= lo && frame.seq <= hi) return rowOf(frame, text(raw, "data_json"));
  }
  return null;
}

/** Whether the newest turn of a log has no `turn-end`. Walks back over that turn at most. */
export function isUnfinished(store: Store, logId: LogId): boolean {
  let turn: string | null = null;
  for (const raw of turnsDown(store, store.segmentsOf(logId) ?? [])) {
    turn ??= text(raw, "turn_id");
    if (text(raw, "turn_id") !== turn) return true;
    if (raw.ends === 1) return false;
  }
  return turn !== null;
}

function* turnsDown(store: Store, segments: readonly Segment[]): Iterable<SqlRow> {
  for (const { source, lo, hi } of segments.toReversed()) {
    let below = finite(hi);
    while (below >= lo) {
      const rows = store.sql.turnsDown.all(source, lo, below, rowsAtOnce);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) break;
      below = number(last, "seq") - 1;
    }
  }
}
