import {
  type AccountedFigures,
  type CacheModel,
  cacheModel,
  createPrefixEnds,
  headEnd,
  type PrefixEnd,
  type Ttl,
} from "./cache-model.ts";
import { createEntries, type Entries } from "./entries.ts";

/** Positions that a breakpoint looks at, its own counting as the first. */
export const LOOK_BACK_POSITIONS = 20;
const TTL_MS: Readonly<Record<Ttl, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 };

export interface MarkedCacheOptions {
  /** A shorter prefix is not kept, without a word. */
  readonly minPrefixTokens?: number;
  /** Whether each block is a position, or a run of calls (and a run of results) only one. */
  readonly positions?: "strict" | "collapsed";
}

/**
 * A prompt cache by Anthropic's published rules: a request writes only at its marked blocks; each mark finds an entry
 * at its own block or at most 19 positions before it; the longest one found is read. An entry that a mark stands on, or
 * that is read, lives on from the start of the request. Up to the last 1 h mark behind the read it is a 1 h write, from
 * there to the last mark a 5 min write, and the rest is plain input.
 */
export function createCacheModel(options: MarkedCacheOptions = {}): CacheModel {
  const minTokens = options.minPrefixTokens ?? 0;
  const endsOf = createPrefixEnds();
  const entries = createEntries();
  const best = createEntries();
  return cacheModel(({ scope, blocks, nowMs }) => {
    const ends = endsOf(scope, blocks);
    const marks = ends.filter((end) => end.ttl !== null && end.tokens >= minTokens);
    const seen = marks.flatMap((mark) => lookBack(ends, mark.index, options.positions ?? "strict"));
    const hit = seen
      .filter((end) => end.tokens >= minTokens && entries.isAlive(end.key, nowMs))
      .reduce((found, end) => Math.max(found, end.index), -1);
    const readable = ends.findLast((end) => end.tokens >= minTokens && best.isAlive(end.key, nowMs));
    for (const { key } of marks) entries.touch(key, nowMs);
    const found = ends[hit];
    if (found !== undefined) entries.touch(found.key, nowMs);
    for (const end of [ends[headEnd(ends)], readable]) if (end !== undefined) best.touch(end.key, nowMs);
    return {
      figures: { ...billed(ends, marks, hit), attainable: readable?.tokens ?? 0 },
      firstEvent() {
        const written = marks.filter((mark) => mark.index > hit);
        for (const { key, ttl } of written) entries.keep(key, nowMs, TTL_MS[ttl ?? "5m"]);
        keepBest(best, ends, nowMs);
      },
      ended: () => undefined,
    };
  });
}

/** What a perfect client would have kept of this request: its end and its system prompt. */
function keepBest(best: Entries, ends: readonly PrefixEnd[], nowMs: number): void {
  for (const index of [headEnd(ends), ends.length - 1]) {
    const end = ends[index];
    const isLong = ends.slice(Math.max(0, index)).some(({ ttl }) => ttl === "1h");
    if (end !== undefined) best.keep(end.key, nowMs, TTL_MS[isLong ? "1h" : "5m"]);
  }
}

function billed(
  ends: readonly PrefixEnd[],
  marks: readonly PrefixEnd[],
  hit: number,
): Omit<AccountedFigures, "attainable"> {
  const read = ends[hit]?.tokens ?? 0;
  const long = Math.max(read, marks.findLast((mark) => mark.ttl === "1h")?.tokens ?? 0);
  const last = Math.max(long, marks.at(-1)?.tokens ?? 0);
  return { read, write1h: long - read, write5m: last - long, fresh: (ends.at(-1)?.tokens ?? 0) - last };
}

function lookBack(ends: readonly PrefixEnd[], from: number, positions: "strict" | "collapsed"): readonly PrefixEnd[] {
  const found: PrefixEnd[] = [];
  for (let index = from; index >= 0 && found.length < LOOK_BACK_POSITIONS; index -= 1) {
    const end = ends[index];
    const behind = index === from ? undefined : ends[index + 1];
    const isRun = end?.kind === "tool-use" || end?.kind === "tool-result";
    if (positions === "collapsed" && isRun && behind?.kind === end?.kind) continue;
    if (end !== undefined) found.push(end);
  }
  return found;
}
