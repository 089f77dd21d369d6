import { createPrng } from "../prng.ts";
import type { CacheBlock } from "./cache-model.ts";
import { createCacheModel, type MarkedCacheOptions } from "./marked-cache.ts";
import { type ScriptedTabsOptions, scriptedTabs, type TabBlock, type TabRequest } from "./scripted-tabs.ts";

/** Where a client puts its breakpoints: indexes of blocks, at most four. */
export type Policy = (blocks: readonly TabBlock[]) => readonly number[];

export const policies = {
  "tail only": (blocks) => [blocks.length - 1],
  "system and tail": (blocks) => [systemEnd(blocks), blocks.length - 1],
  "system and the last two messages": (blocks) => [systemEnd(blocks), ...messageEnds(blocks).slice(-2)],
  "system and every 15 blocks": (blocks) => [systemEnd(blocks), ...[30, 15, 0].map((back) => blocks.length - 1 - back)],
  "S + T1 + T0": (blocks) => [systemEnd(blocks), ...requestTails(blocks).slice(-1), blocks.length - 1],
  "S + T2 + T1 + T0": (blocks) => [systemEnd(blocks), ...requestTails(blocks).slice(-2), blocks.length - 1],
} as const satisfies Readonly<Record<string, Policy>>;

function systemEnd(blocks: readonly TabBlock[]): number {
  return blocks.findLastIndex(({ side }) => side === "head");
}

function messageEnds(blocks: readonly TabBlock[]): readonly number[] {
  return [...blocks.keys()].filter((at) => blocks[at]?.side !== "head" && blocks[at + 1]?.side !== blocks[at]?.side);
}

/** The last block of each run of the user's side that an answer stands behind: each was the end of a request. */
function requestTails(blocks: readonly TabBlock[]): readonly number[] {
  return messageEnds(blocks).filter((at) => blocks[at]?.side === "user" && blocks[at + 1]?.side === "assistant");
}

export interface PolicyScore {
  readonly requests: number;
  /** Requests that read less than they could have. */
  readonly short: number;
  /** Requests that read more than they could have: a fault of what "could" means. */
  readonly beyond: number;
  /** What was read of what could have been, over all requests. */
  readonly ratio: number;
}

export interface PolicyRun extends MarkedCacheOptions {
  readonly policy: Policy;
  /** Lifetime that every breakpoint asks for. */
  readonly ttl?: "5m" | "1h";
}

export function scoreOf(requests: readonly TabRequest[], run: PolicyRun): PolicyScore {
  const cache = createCacheModel(run);
  let [read, attainable, short, beyond] = [0, 0, 0, 0];
  for (const { blocks, nowMs, isAnswered } of requests) {
    const marks = new Set(run.policy(blocks));
    const marked = blocks.map(
      ({ text, kind }, at): CacheBlock => ({ text, kind, ttl: marks.has(at) ? (run.ttl ?? "5m") : null }),
    );
    const begun = cache.begin({ scope: "model", blocks: marked, nowMs });
    if (isAnswered) begun.firstEvent();
    read += begun.figures.read;
    attainable += begun.figures.attainable;
    if (begun.figures.read < begun.figures.attainable) short += 1;
    if (begun.figures.read > begun.figures.attainable) beyond += 1;
  }
  return { requests: requests.length, short, beyond, ratio: attainable === 0 ? 1 : read / attainable };
}

/** The same scripts under one policy, seed by seed. */
export function scoreSeeds(seeds: readonly number[], options: ScriptedTabsOptions, run: PolicyRun): PolicyScore {
  let [requests, short, beyond, ratios] = [0, 0, 0, 0];
  for (const seed of seeds) {
    const score = scoreOf(scriptedTabs(createPrng(seed), options), run);
    requests += score.requests;
    short += score.short;
    beyond += score.beyond;
    ratios += score.ratio;
  }
  return { requests, short, beyond, ratio: ratios / seeds.length };
}
