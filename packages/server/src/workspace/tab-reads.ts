/** Sealed rows of a tab as they travel: a page, one of them, the digest of some. */
import { createHash } from "node:crypto";
import type { Log } from "@varve/log";
import {
  digestLine,
  type Fault,
  fault,
  isFault,
  type LogChunk,
  limits,
  type Page,
  toTravelling,
  toTravellingWhole,
} from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";
import type { PageRequest, RowSpan } from "./workspace-contract.ts";

export async function pageOf(log: Log, core: TabCore, request: PageRequest): Promise<Page | Fault> {
  const limit = Math.min(request.limit ?? limits.pageRowsDefault, limits.pageRowsMax);
  const { logId, term } = core.fence;
  const page = await log.page({
    logId,
    limit,
    bytesMax: limits.pageBytesMax,
    ...(request.before !== undefined && { before: request.before }),
    ...(request.after !== undefined && { after: request.after }),
  });
  if (isFault(page)) return page;
  const chunks = page.rows.map((row) => toTravelling(row, core.tabId));
  return { chunks, total: page.tail, tail: page.tail, logId, term };
}

export async function rowOf(log: Log, core: TabCore, seq: number): Promise<LogChunk | Fault> {
  const row = await log.row(core.fence.logId, seq);
  if (row === null) return fault("unknown-row", `This tab has no row ${seq}.`, `Its last row is ${core.tail}.`);
  return toTravellingWhole(row, core.tabId);
}

/** In pages: what it holds at once, and how long it keeps others waiting, does not depend on how many rows are asked for. */
export async function digestOf(log: Log, core: TabCore, { lo, hi }: RowSpan): Promise<string | Fault> {
  const hash = createHash("sha256");
  const { logId } = core.fence;
  for (let after = lo - 1; after < hi; ) {
    if (after >= lo) await core.ports.giveWay();
    const limit = Math.min(limits.pageRowsMax, hi - after);
    const page = await log.page({ logId, after, limit, bytesMax: limits.pageBytesMax });
    if (isFault(page)) return page;
    if (page.rows.length === 0) break;
    for (const row of page.rows) hash.update(digestLine(toTravelling(row, core.tabId)));
    after += page.rows.length;
  }
  return hash.digest("hex");
}
