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
   * What a client reads who places its breakpoints at best: in every request on its system prompt, on the longest
   * beginning that an earlier request ended with and that is alive, and on its own end.
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
  readonly key: number;
  readonly tokens: number;
  readonly ttl: Ttl | null;
  readonly kind: BlockKind;
}

/** For each block: a number for everything up to and with it, the same for the same beginnings, and the tokens that takes. */
export type PrefixEnds = (scope: string, blocks: readonly CacheBlock[]) => readonly PrefixEnd[];

interface Beginning {
  readonly key: number;
  readonly longer: Map<string, Beginning>;
}

/** Knows all beginnings that were ever asked about, so that equal ones have equal keys. */
export function createPrefixEnds(): PrefixEnds {
  let keys = 0;
  const root: Beginning = { key: keys, longer: new Map() };
  const longer = (from: Beginning, text: string): Beginning => {
    const known = from.longer.get(text);
    if (known !== undefined) return known;
    keys += 1;
    const made: Beginning = { key: keys, longer: new Map() };
    from.longer.set(text, made);
    return made;
  };
  return (scope, blocks) => {
    let at = longer(root, scope);
    let tokens = 0;
    return blocks.map(({ text, ttl, kind }, index) => {
      at = longer(at, text);
      tokens += estimateTokens(text);
      return { index, key: at.key, tokens, ttl, kind: kind ?? "other" };
    });
  };
}

/** The last block of tools and system, or -1. */
export function headEnd(ends: readonly PrefixEnd[]): number {
  const behind = ends.findIndex(({ kind }) => kind !== "tools" && kind !== "system");
  return (behind === -1 ? ends.length : behind) - 1;
}
