import { createHash } from "node:crypto";
import type { Ttl } from "./anthropic-breakpoints.ts";

/** Blocks that a breakpoint looks at, its own counting as the first. */
export const LOOK_BACK_BLOCKS = 20;
const CHARS_PER_TOKEN = 4;
const TTL_MS: Readonly<Record<Ttl, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 };

export interface CacheBlock {
  /** Exact text of the block, without breakpoints. */
  readonly text: string;
  /** Set where a breakpoint stands on the block. */
  readonly ttl: Ttl | null;
}

/** Tokens of one request: the four figures add up to its whole input. */
export interface CacheFigures {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly fresh: number;
}

export interface CacheModel {
  /**
   * Accounts one request and remembers what it wrote. `scope` names everything else that is part of the key (model,
   * thinking settings); `nowMs` is when the request began.
   */
  account(request: {
    readonly scope: string;
    readonly blocks: readonly CacheBlock[];
    readonly nowMs: number;
  }): CacheFigures;
}

/** One token for four UTF-16 units, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/**
 * A prompt cache by the vendor's published rule: a request writes only at its marked blocks; each mark finds an entry
 * at its own block or at most 19 before it; the longest one found is read. A read keeps the entry alive for its
 * lifetime from the start of the request. Up to the last 1 h mark behind the read it is a 1 h write, from there to the
 * last mark a 5 min write, and the rest is plain input.
 */
export function createCacheModel(options: { readonly minPrefixTokens?: number } = {}): CacheModel {
  const minTokens = options.minPrefixTokens ?? 0;
  const entries = new Map<string, { ttl: Ttl; expiresMs: number }>();
  return {
    account({ scope, blocks, nowMs }) {
      const ends = chain(scope, blocks);
      const marks = ends.filter((end) => end.ttl !== null && end.tokens >= minTokens);
      const alive = (key: string): boolean => (entries.get(key)?.expiresMs ?? Number.NEGATIVE_INFINITY) > nowMs;
      const hit = marks
        .flatMap((mark) => ends.slice(Math.max(0, mark.index - LOOK_BACK_BLOCKS + 1), mark.index + 1))
        .filter((end) => alive(end.key))
        .reduce((best, end) => Math.max(best, end.index), -1);
      touch(entries, hit === -1 ? undefined : ends[hit]?.key, nowMs);
      for (const mark of marks) {
        if (mark.index <= hit || mark.ttl === null) continue;
        entries.set(mark.key, { ttl: mark.ttl, expiresMs: nowMs + TTL_MS[mark.ttl] });
      }
      const read = ends[hit]?.tokens ?? 0;
      const long = Math.max(read, marks.findLast((mark) => mark.ttl === "1h")?.tokens ?? 0);
      const last = Math.max(long, marks.at(-1)?.tokens ?? 0);
      return { read, write1h: long - read, write5m: last - long, fresh: (ends.at(-1)?.tokens ?? 0) - last };
    },
  };
}

function touch(entries: Map<string, { ttl: Ttl; expiresMs: number }>, key: string | undefined, nowMs: number): void {
  const entry = key === undefined ? undefined : entries.get(key);
  if (entry !== undefined) entry.expiresMs = nowMs + TTL_MS[entry.ttl];
}

interface PrefixEnd {
  readonly index: number;
  readonly key: string;
  readonly tokens: number;
  readonly ttl: Ttl | null;
}

/** For each block: the fingerprint of everything up to and with it, and the tokens that takes. */
function chain(scope: string, blocks: readonly CacheBlock[]): readonly PrefixEnd[] {
  let key = createHash("sha256").update(scope).digest("hex");
  let tokens = 0;
  return blocks.map(({ text, ttl }, index) => {
    key = createHash("sha256").update(key).update(text).digest("hex");
    tokens += estimateTokens(text);
    return { index, key, tokens, ttl };
  });
}
