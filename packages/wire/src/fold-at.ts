/** Requests of the past: what exactly was sent, from the log alone. */
import { type Fault, fault, type StoredRow } from "@varve/protocol";
import { buildRequest } from "./folder.ts";
import type { RequestInput, WireRequest } from "./request.ts";
import { isLink, isRequest, type RequestRow } from "./segment.ts";

/**
 * The rows that the request of this row was folded from: all before it. One that keeps a cache entry warm sent an earlier
 * request again, so the rows are that one's. Empty when there is no such row.
 */
export function rowsOfRequest(rows: readonly StoredRow[], requestSeq: number): readonly StoredRow[] {
  const row = requestAt(rows, requestSeq);
  if (row === null) return [];
  const origin = row.data.purpose === "warm" ? warmed(rows, row) : row;
  return rows.filter(({ seq }) => seq < origin.seq);
}

/**
 * The request of this row once more: with the row's own target, effort and blobs its `tailHash` is the row's. Of a summary's
 * request it is the body in front of the text that asks for the summary. Breakpoints are those of the step it repeats.
 */
export function foldAt(
  input: Omit<RequestInput, "modelName" | "previousChain">,
  requestSeq: number,
): WireRequest | Fault {
  const row = requestAt(input.rows, requestSeq);
  if (row === null) return fault("unknown-request", `Row ${requestSeq} of this log is no request.`);
  return buildRequest({ ...input, rows: rowsOfRequest(input.rows, requestSeq), modelName: row.data.model });
}

function requestAt(rows: readonly StoredRow[], seq: number): RequestRow | null {
  const row = rows.find((one) => one.seq === seq);
  return row !== undefined && isRequest(row) ? row : null;
}

/** The newest request of the chain that it repeats, or itself when the log holds none. */
function warmed(rows: readonly StoredRow[], warm: RequestRow): RequestRow {
  const { model, tailHash } = warm.data;
  const isOrigin = (row: StoredRow): boolean =>
    row.seq < warm.seq && isRequest(row) && isLink(row) && row.data.model === model && row.data.tailHash === tailHash;
  const origin = rows.findLast(isOrigin);
  return origin !== undefined && isRequest(origin) ? origin : warm;
}
