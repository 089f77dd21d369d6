/**
 * Decoders: from the columns of a row to what they were when this log wrote them. The casts are the price of a store
 * that is typed by its writer: every value went in through the typed port, and the file belongs to one server.
 */
import type {
  BlobHash,
  ChunkId,
  ChunkRole,
  ChunkType,
  Delivery,
  JsonObject,
  LogId,
  RequestPurpose,
  TabId,
  TurnId,
} from "@varve/protocol";
import type { BillEntry, BillSum, BlobEntry, InboxRecord, KeyEntry, LogEntry, TabEntry } from "../log.ts";
import { messageData, type RowFrame } from "../row-text.ts";
import type { SqlRow } from "./driver.ts";

export const text = (row: SqlRow, column: string): string => String(row[column]);
export const number = (row: SqlRow, column: string): number => Number(row[column]);
const textOrNull = (row: SqlRow, column: string): string | null => (row[column] == null ? null : text(row, column));
const numberOrNull = (row: SqlRow, column: string): number | null => (row[column] == null ? null : number(row, column));

export const logIdIn = (row: SqlRow, column: string): LogId => text(row, column) as LogId;
export const tabIdIn = (row: SqlRow, column: string): TabId => text(row, column) as TabId;

export function tabIn(row: SqlRow): TabEntry {
  return {
    id: tabIdIn(row, "id"),
    title: text(row, "title"),
    cwd: text(row, "cwd"),
    model: text(row, "model"),
    effort: text(row, "effort"),
    permissions: text(row, "permissions"),
    parentId: textOrNull(row, "parent_id") as TabId | null,
    logId: logIdIn(row, "log_id"),
    tail: number(row, "tail"),
    term: number(row, "term"),
    seen: number(row, "seen"),
    createdAt: number(row, "created_at"),
    updatedAt: number(row, "updated_at"),
    trashedAt: numberOrNull(row, "trashed_at"),
    options: JSON.parse(text(row, "options_json")) as JsonObject,
  };
}

export function frameIn(row: SqlRow): RowFrame {
  return {
    id: text(row, "id") as ChunkId,
    seq: number(row, "seq"),
    term: number(row, "term"),
    turnId: text(row, "turn_id") as TurnId,
    step: number(row, "step"),
    role: text(row, "role") as ChunkRole,
    type: text(row, "type") as ChunkType,
    createdAt: number(row, "created_at"),
    by: textOrNull(row, "by") ?? undefined,
  } as RowFrame;
}

export function messageIn(row: SqlRow): InboxRecord {
  const logId = textOrNull(row, "sealed_log_id") as LogId | null;
  return {
    id: text(row, "id") as ChunkId,
    tabId: tabIdIn(row, "tab_id"),
    position: number(row, "position"),
    version: number(row, "version"),
    state: text(row, "state") as InboxRecord["state"],
    delivery: text(row, "delivery") as Delivery,
    data: messageData(text(row, "data_json")),
    by: text(row, "by"),
    at: number(row, "at"),
    sealed: logId === null ? null : { logId, seq: number(row, "sealed_seq") },
  };
}

export const logIn = (row: SqlRow, tail: number): LogEntry => ({
  id: logIdIn(row, "id"),
  parentId: textOrNull(row, "parent_id") as LogId | null,
  parentSeq: number(row, "parent_seq"),
  tail,
  createdAt: number(row, "created_at"),
});

export const blobIn = (row: SqlRow): BlobEntry => ({
  blob: text(row, "blob") as BlobHash,
  mediaType: text(row, "media_type"),
  size: number(row, "size"),
});

/** The ancestor's table has no null key: an empty one stands for none. */
export function keyIn(row: SqlRow): KeyEntry {
  const secret = textOrNull(row, "api_key");
  return {
    keyId: text(row, "key_id"),
    provider: text(row, "provider"),
    secret: secret === "" ? null : secret,
    baseUrl: textOrNull(row, "base_url"),
    importedAt: numberOrNull(row, "imported_at") ?? 0,
    updatedAt: numberOrNull(row, "updated_at") ?? 0,
  };
}

export function billIn(row: SqlRow): BillEntry {
  const purpose = textOrNull(row, "purpose") as RequestPurpose | null;
  const startedAt = numberOrNull(row, "started_at");
  const usage = {
    kind: "usage",
    model: text(row, "model"),
    fresh: numberOrNull(row, "fresh"),
    read: numberOrNull(row, "read"),
    write5m: numberOrNull(row, "write_5m"),
    write1h: numberOrNull(row, "write_1h"),
    output: numberOrNull(row, "output"),
    reasoning: numberOrNull(row, "reasoning"),
    price: numberOrNull(row, "price"),
    attainable: numberOrNull(row, "attainable"),
    ...(purpose === null ? {} : { purpose }),
    ...(startedAt === null ? {} : { startedAt }),
    ...(JSON.parse(text(row, "other_json")) as Partial<BillEntry["usage"]>),
  } as const;
  return {
    tabId: tabIdIn(row, "tab_id"),
    logId: logIdIn(row, "log_id"),
    seq: number(row, "seq"),
    turnId: text(row, "turn_id") as TurnId,
    step: number(row, "step"),
    at: number(row, "at"),
    usage,
  };
}

export const billSumIn = (row: SqlRow): BillSum => ({
  tabId: tabIdIn(row, "tab_id"),
  model: text(row, "model"),
  purpose: text(row, "purpose") as RequestPurpose,
  requests: number(row, "requests"),
  untold: number(row, "untold"),
  fresh: number(row, "fresh"),
  read: number(row, "read"),
  write5m: number(row, "write_5m"),
  write1h: number(row, "write_1h"),
  output: number(row, "output"),
  reasoning: number(row, "reasoning"),
  attainable: number(row, "attainable"),
  attained: number(row, "attained"),
  price: number(row, "price"),
  unpriced: number(row, "unpriced"),
  startedAt: number(row, "started_at"),
});
