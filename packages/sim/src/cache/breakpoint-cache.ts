import { type CacheModel, cacheModel, createPrefixEnds, headEnd, type PrefixEnd } from "./cache-model.ts";
import { createEntries } from "./entries.ts";

export const WRITE_SLOTS = 4;
const EARLIER_ENDS_MAX = 20;
const FIRST_MARKS = 2;
const LATEST_MARKS_MAX = 50;
const LIFE_MS = 30 * 60_000;

/**
 * A prompt cache by OpenAI's published rules for GPT-5.6 and later: a request writes at its explicit breakpoints and at
 * the end of its newest message (of the user, or the last output of a group, or of the instructions in front), four at
 * most. It reads the longest entry at a breakpoint, at one of the 20 message ends before, or at the end of the
 * instructions. Half an hour from the last use; a prefix is matched whole or not at all.
 */
export function createBreakpointCache(options: { readonly minPrefixTokens?: number } = {}): CacheModel {
  const minTokens = options.minPrefixTokens ?? 0;
  const endsOf = createPrefixEnds();
  const entries = createEntries();
  const best = createEntries();
  return cacheModel(({ scope, blocks, nowMs }) => {
    const ends = endsOf(scope, blocks);
    const { lookups, writes } = placesOf(ends, minTokens);
    const alive = lookups.filter(({ key }) => entries.isAlive(key, nowMs));
    const hit = alive.reduce((found, end) => Math.max(found, end.index), -1);
    const readable = ends.findLast((end) => end.tokens >= minTokens && best.isAlive(end.key, nowMs));
    for (const { key } of alive) entries.touch(key, nowMs);
    for (const end of [ends[headEnd(ends)], readable]) if (end !== undefined) best.touch(end.key, nowMs);
    const written = writes.filter(({ index }) => index > hit).slice(-WRITE_SLOTS);
    const read = ends[hit]?.tokens ?? 0;
    const last = Math.max(read, written.at(-1)?.tokens ?? 0);
    const fresh = (ends.at(-1)?.tokens ?? 0) - last;
    return {
      figures: { read, write5m: last - read, write1h: 0, fresh, attainable: readable?.tokens ?? 0 },
      firstEvent() {
        for (const { key } of written) entries.keep(key, nowMs, LIFE_MS);
        for (const end of [ends[headEnd(ends)], newestEnd(ends)]) if (end) best.keep(end.key, nowMs, LIFE_MS);
      },
      ended: () => undefined,
    };
  });
}

function placesOf(
  ends: readonly PrefixEnd[],
  minTokens: number,
): { readonly lookups: readonly PrefixEnd[]; readonly writes: readonly PrefixEnd[] } {
  const all = ends.filter(({ ttl }) => ttl !== null);
  const marks = all.filter((_end, at) => at < FIRST_MARKS || at >= all.length - LATEST_MARKS_MAX);
  const messages = messageEnds(ends);
  const newest = messages.slice(-1);
  const head = ends[headEnd(ends)];
  const lookups = [...marks, ...messages.slice(-EARLIER_ENDS_MAX - 1), ...(head === undefined ? [] : [head])];
  const isLong = (end: PrefixEnd): boolean => end.tokens >= minTokens;
  const writes = [...new Set([...marks, ...newest])].sort((a, b) => a.index - b.index);
  return { lookups: lookups.filter(isLong), writes: writes.filter(isLong) };
}

/** Ends of the messages that count: the user's, the last output of a group, the instructions in front. */
function messageEnds(ends: readonly PrefixEnd[]): readonly PrefixEnd[] {
  const head = headEnd(ends);
  return ends.filter(({ kind, index }) => {
    if (index <= head) return index === head;
    return kind === "user" || (kind === "tool-result" && ends[index + 1]?.kind !== "tool-result");
  });
}

function newestEnd(ends: readonly PrefixEnd[]): PrefixEnd | undefined {
  return messageEnds(ends).at(-1);
}
