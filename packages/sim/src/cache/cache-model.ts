import { createHash } from "node:crypto";

export type Ttl = "5m" | "1h";

const CHARS_PER_TOKEN = 4;

export interface CacheBlock {
  /** Exact text of the block, without breakpoints. */
  readonly text: string;
  /** Set where an explicit breakpoint stands on the block. Vendors with one lifetime take it as a mere mark. */
  readonly ttl: Ttl | null;
  /** What the vendor's rules ask about a block. Default: `other`. */
  readonly kind?: BlockKind;
}

export type BlockKind = "tools" | "system" | "user" | "tool-use" | "tool-result" | "other";

/** Tokens of one request: the four figures add up to its whole input. */
export interface CacheFigures {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly fresh: number;
}

export interface AccountedFigures extends CacheFigures {
  /**
   * What the request could have read at best: its longest beginning that is alive and that some earlier request ended
   * with (or whose system prompt it is), had breakpoints stood wherever they helped.
   */
  readonly attainable: number;
}

export interface CacheRequest {
  /** Everything else that is part of the key: model, thinking settings. */
  readonly scope: string;
  /** The whole input as the vendor renders it: tools, system, messages. */
  readonly blocks: readonly CacheBlock[];
  /** When the request began; lifetimes count from here. */
  readonly nowMs: number;
}

/** A request that was looked up. What it writes can be read from its first event on, and not before. */
export interface BegunRequest {
  readonly figures: AccountedFigures;
  firstEvent(): void;
  /** The answer as the next request renders it, for vendors that keep what they generated. Once, at a clean end. */
  ended(answer: readonly string[]): void;
}

export interface CacheModel {
  begin(request: CacheRequest): BegunRequest;
  /** A request whose answer begins at once. */
  account(request: CacheRequest): AccountedFigures;
}

/** One token for four UTF-16 units, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

export function tokensOf(blocks: readonly { readonly text: string }[]): number {
  return blocks.reduce((sum, { text }) => sum + estimateTokens(text), 0);
}

export function cacheModel(begin: (request: CacheRequest) => BegunRequest): CacheModel {
  return {
    begin,
    account(request) {
      const begun = begin(request);
      begun.firstEvent();
      return begun.figures;
    },
  };
}

export interface PrefixEnd {
  readonly index: number;
  readonly key: string;
  readonly tokens: number;
  readonly ttl: Ttl | null;
  readonly kind: BlockKind;
}

/** For each block: the fingerprint of everything up to and with it, and the tokens that takes. */
export function prefixEnds(scope: string, blocks: readonly CacheBlock[]): readonly PrefixEnd[] {
  let key = createHash("sha256").update(scope).digest("hex");
  let tokens = 0;
  return blocks.map(({ text, ttl, kind }, index) => {
    key = createHash("sha256").update(key).update(text).digest("hex");
    tokens += estimateTokens(text);
    return { index, key, tokens, ttl, kind: kind ?? "other" };
  });
}

/** The last block of tools and system, or -1. */
export function headEnd(ends: readonly PrefixEnd[]): number {
  const behind = ends.findIndex(({ kind }) => kind !== "tools" && kind !== "system");
  return (behind === -1 ? ends.length : behind) - 1;
}
