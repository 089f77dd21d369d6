/**
 * What one holder knows of one id, and how two such pieces of knowledge become one.
 *
 * The cells of an id form a chain, the ordinal sum of
 *
 *     pending  <  queued (term, version)  <  open (length of text)  <  dropped  <  sealed
 *
 * and `joinRows` is its maximum. So the order in which ops, heads and pages arrive, and how often each of them arrives,
 * decides nothing. This rests on what the one writer of a tab guarantees:
 * - an id's pending text never changes: a changed message is a new version of a queued one;
 * - (term, version) names one content of a queued message, and `at` never goes back within it;
 * - the texts of an open block are all prefixes of one string;
 * - per log an id ends once, as dropped or as sealed, and a sealed row never changes.
 */
import type { Attachment, LogChunk } from "./chunk.ts";
import type { ChunkId } from "./ids.ts";
import type { ChunkOpen, Delivery, MessageDropped, QueuedMessage } from "./op.ts";
import { compareStamps, laterStamp, type Stamp } from "./order.ts";
import { unreachable } from "./unreachable.ts";

/** Own intent that no server has confirmed. It never travels inside a row. */
export interface PendingCell {
  readonly state: "pending";
  readonly id: ChunkId;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly delivery: Delivery;
}
export interface QueuedCell {
  readonly state: "queued";
  readonly id: ChunkId;
  readonly message: QueuedMessage;
  /** Stamp of the op or head that said so. */
  readonly at: Stamp;
}
/** A block that grows. All that is known of it but its text is fixed when it opens. */
export type OpenedBlock = Omit<ChunkOpen, "op">;
export interface OpenCell {
  readonly state: "open";
  readonly id: ChunkId;
  readonly block: OpenedBlock;
  /** From the first character on. */
  readonly text: string;
  readonly at: Stamp;
}
export interface DroppedCell {
  readonly state: "dropped";
  readonly id: ChunkId;
  readonly reason: MessageDropped["reason"];
  readonly at: Stamp;
}
export interface SealedCell {
  readonly state: "sealed";
  readonly id: ChunkId;
  readonly row: LogChunk;
}
export type RowCell = PendingCell | QueuedCell | OpenCell | DroppedCell | SealedCell;
export type RowState = RowCell["state"];

export const rowRank: Readonly<Record<RowState, number>> = { pending: 0, queued: 1, open: 2, dropped: 3, sealed: 4 };

/** Joins two cells of one id. Commutative, associative, idempotent; returns one of its arguments where that is enough. */
export function joinRows(a: RowCell, b: RowCell): RowCell {
  if (a.state !== b.state) return rowRank[a.state] > rowRank[b.state] ? a : b;
  switch (a.state) {
    case "pending":
      return a;
    case "queued":
      return b.state === "queued" ? joinQueued(a, b) : b;
    case "open":
      return b.state === "open" ? joinOpen(a, b) : b;
    case "dropped":
      return b.state === "dropped" && compareStamps(b.at, a.at) > 0 ? b : a;
    case "sealed":
      return b.state === "sealed" && compareSealed(b.row, a.row) > 0 ? b : a;
    default:
      return unreachable(a);
  }
}

/** A later term knows better: after an older database was restored, versions count up from lower numbers again. */
function joinQueued(a: QueuedCell, b: QueuedCell): QueuedCell {
  const later = b.at[0] - a.at[0] || b.message.version - a.message.version || b.at[1] - a.at[1];
  return later > 0 ? b : a;
}

function joinOpen(a: OpenCell, b: OpenCell): OpenCell {
  const longer = b.text.length > a.text.length ? b : a;
  const at = laterStamp(a.at, b.at);
  return compareStamps(longer.at, at) === 0 ? longer : { ...longer, at };
}

/** Only a restored database gives one id two rows; the later term is the one that is true now. */
const compareSealed = (a: LogChunk, b: LogChunk): number => a.term - b.term || a.seq - b.seq;
