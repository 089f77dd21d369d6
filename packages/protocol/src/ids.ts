/**
 * CONTRACT. Ids are opaque names: nothing is ever ordered by one (`order.ts` says what orders rows).
 * They are UUIDv7 because time-ordered keys cost a third of the disk writes, and short printable names are accepted
 * from outside. This file is the only place where a string becomes an id.
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TabId = Branded<"tab">;
export type LogId = Branded<"log">;
/** A row's id. A message's client-made id is its queue id, its chunk id and its idempotency key. */
export type ChunkId = Branded<"chunk">;
/** Names one turn; rows outside any turn carry `noTurn`. */
export type TurnId = Branded<"turn">;
export type ClientId = Branded<"client">;
/** Lower-case hex SHA-256 of a blob's bytes. */
export type BlobHash = Branded<"blob">;

export const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const blobPattern = /^[0-9a-f]{64}$/;
/** The turn id of rows that stand outside any turn. Their step is 0. */
export const noTurn = "" as TurnId;

const accept = (text: string): string | null => (idPattern.test(text) ? text : null);

/** Each returns null when the text is not a legal id: the caller answers with `bad-id`. */
export const parseTabId = (text: string): TabId | null => accept(text) as TabId | null;
export const parseLogId = (text: string): LogId | null => accept(text) as LogId | null;
export const parseChunkId = (text: string): ChunkId | null => accept(text) as ChunkId | null;
export const parseTurnId = (text: string): TurnId | null => (text === "" ? noTurn : (accept(text) as TurnId | null));
export const parseClientId = (text: string): ClientId | null => accept(text) as ClientId | null;
export const parseBlobHash = (text: string): BlobHash | null => (blobPattern.test(text) ? (text as BlobHash) : null);

/** Everything that makes ids, handed to whoever needs them. `sim` has a counting fake. */
export interface IdMaker {
  tab(): TabId;
  log(): LogId;
  chunk(): ChunkId;
  turn(): TurnId;
  client(): ClientId;
}

/** Fills the array with random bytes, as `crypto.getRandomValues` does (which also works on plain http). */
export type RandomBytes = (into: Uint8Array<ArrayBuffer>) => void;

/** Wraps any source of legal id texts. */
export function idMaker(next: () => string): IdMaker {
  return {
    tab: () => next() as TabId,
    log: () => next() as LogId,
    chunk: () => next() as ChunkId,
    turn: () => next() as TurnId,
    client: () => next() as ClientId,
  };
}

/**
 * A maker of UUIDv7 texts (RFC 9562): 48 bits of milliseconds, then version, variant and 74 random bits.
 * Two ids of one millisecond are distinct by chance alone, which is enough for a name.
 */
export function uuidV7Maker(now: () => number, random: RandomBytes): () => string {
  return () => {
    const bytes = new Uint8Array(16);
    random(bytes);
    let ms = Math.max(0, Math.floor(now()));
    for (let i = 5; i >= 0; i--) {
      bytes[i] = ms % 256;
      ms = Math.floor(ms / 256);
    }
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
