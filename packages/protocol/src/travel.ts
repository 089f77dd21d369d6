/**
 * How a stored row travels: it names its tab, a prefix row becomes a stub, and data that is too long is clipped and
 * marked. The same for every door, so that what a client holds can be compared with the server by digest.
 */
import type { LogChunk, PrefixData, PrefixStub, StoredRow } from "./chunk.ts";
import { clipJson } from "./clip.ts";
import type { TabId } from "./ids.ts";
import type { Json } from "./json.ts";
import { limits } from "./limits.ts";

/** Pure and deterministic. `limits.rowTravelBytesMax` counts UTF-16 units of the data's JSON. */
export function toTravelling(row: StoredRow, tabId: TabId): LogChunk {
  return clipChunk(named(row, tabId));
}

/** The same without a limit, for `GET /tabs/:id/chunks/:seq`. A prefix row stays a stub. */
export function toTravellingWhole(row: StoredRow, tabId: TabId): LogChunk {
  return named(row, tabId);
}

/** One line of a digest, with its line end. A digest is the SHA-256 of the UTF-8 bytes of the lines of ascending rows. */
export const digestLine = (row: LogChunk): string => `${row.seq} ${row.id} ${row.term} ${JSON.stringify(row.data)}\n`;
export const digestText = (rows: readonly LogChunk[]): string => rows.map(digestLine).join("");

function named(row: StoredRow, tabId: TabId): LogChunk {
  if (row.type !== "system") return { ...row, tabId };
  const data = row.data;
  return data.kind === "prefix" ? { ...row, tabId, data: stubOf(data) } : { ...row, tabId, data };
}

/** `bytes` is the UTF-8 size of the whole data's JSON: what the model reads of it, about. */
function stubOf(data: PrefixData): PrefixStub {
  return { kind: "prefix", hash: data.hash, bytes: utf8Bytes(JSON.stringify(data)), instructions: data.instructions };
}

function clipChunk(chunk: LogChunk): LogChunk {
  // A clone by JSON is what travels anyway; the cast says only that row data are JSON, which their schemas enforce.
  const data = chunk.data as Json;
  const clipped = clipJson(data, limits.rowTravelBytesMax);
  if (clipped === data) return chunk;
  // Clipping shortens strings and arrays and removes members that every schema of row data marks as optional.
  return { ...chunk, data: clipped, clipped: true } as LogChunk;
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
