/**
 * The head of a tab: what a client needs to stand where the owner stands. Everything but the rows is captured in one tick,
 * together with the cursor at which the live feed goes on; rows up to the captured tail are immutable, so that reading them
 * afterwards is as good as reading them in that tick.
 */
import type { Log } from "@varve/log";
import {
  assert,
  type Fault,
  type HeadBody,
  type HeadFrame,
  isFault,
  type LogChunk,
  limits,
  type OpenBlock,
  type StoredRow,
  type SubCommand,
  toTravelling,
} from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";
import type { Cursor } from "./tab-feed.ts";

export interface Captured {
  readonly start: Cursor;
  readonly tail: number;
  readonly frame: Pick<HeadFrame, "queue" | "open" | "outputs" | "status">;
}

/** `known`: text lengths of open blocks that the client says it holds. Contains no await: it is one tick. */
export function capture(core: TabCore, known: Readonly<Record<string, number>>): Captured {
  const { feed } = core;
  const start = feed.here();
  const open = feed.openBlocks().map(({ block, text }): OpenBlock => {
    const end = start.offsets.get(block.id) ?? 0;
    const offset = Math.min(known[block.id] ?? 0, end);
    return { ...block, offset, text: text.slice(offset, end) };
  });
  const outputs = [...feed.outputs.values()];
  return {
    start,
    tail: core.tail,
    frame: { queue: [...feed.queue()], open, outputs, status: feed.status },
  };
}

export interface HeadRows {
  readonly from: number;
  readonly mode: "append" | "reset";
  readonly rows: readonly LogChunk[];
}

/**
 * Rows for a head. What the client has is valid when it is of this log and its newest row carries the same term; then only
 * later rows are sent, else the last page and `reset`. Too many later rows: the last page alone, whose first seq shows the
 * gap.
 */
export async function headRows(
  log: Log,
  core: TabCore,
  asked: { readonly captured: Captured; readonly have: SubCommand["have"]; readonly want: number | undefined },
): Promise<HeadRows | Fault> {
  const { captured, have } = asked;
  const { tail } = captured;
  const logId = captured.start.log;
  const from = await vouchedFor(log, captured, have);
  const want = Math.min(asked.want ?? limits.pageRowsDefault, limits.pageRowsDefault);
  const travel = (rows: readonly StoredRow[]): LogChunk[] => rows.map((row) => toTravelling(row, core.tabId));
  if (from !== null && (from === tail || want === 0)) return { from, mode: "append", rows: [] };
  const limit = want === 0 ? limits.pageRowsDefault : want;
  if (from !== null && tail - from <= limit) {
    const page = await log.page({ logId, after: from, limit: tail - from, bytesMax: limits.pageBytesMax });
    if (isFault(page)) return page;
    if (page.rows.at(-1)?.seq === tail) return { from, mode: "append", rows: travel(page.rows) };
  }
  const last = await log.page({ logId, before: tail + 1, limit, bytesMax: limits.pageBytesMax });
  if (isFault(last)) return last;
  return { from: from ?? 0, mode: from === null ? "reset" : "append", rows: travel(last.rows) };
}

/** The seq up to which the client's rows are known to be this log's; null when they are not. */
async function vouchedFor(log: Log, captured: Captured, have: SubCommand["have"]): Promise<number | null> {
  if (have === null || have.log !== captured.start.log || have.seq > captured.tail) return null;
  if (have.seq === 0) return 0;
  const row = await log.row(captured.start.log, have.seq);
  return row !== null && row.term === have.term ? have.seq : null;
}

export function headBody(core: TabCore): HeadBody {
  // What a client has been shown of an open block outlives this process.
  core.journal.flush();
  const { start, tail, frame } = capture(core, {});
  assert(
    frame.open.every((block) => block.offset === 0),
    "a head body gives open blocks whole",
  );
  const queue = frame.queue.map(({ id, state, delivery, position, version, data }) => {
    return { id, state, delivery, position, version, text: data.text };
  });
  const { open, status } = frame;
  return { tail, logId: start.log, term: start.term, n: start.n, queue, open, status };
}
