/**
 * When an idle tab's newest cache entry is to be kept alive, and why not. Pure.
 *
 *   start of the last request ........ 90 % of its lifetime: the same body again ........ it would expire
 */
import { breakEven } from "@varve/agent";
import type { ContextBody, TabOptions } from "@varve/protocol";
import { cacheFactsOf, lifeOf, type Way } from "./forecast.ts";
import type { Reading, Sent } from "./log-reading.ts";

/** Share of a lifetime after which it is refreshed, and what must be left of it at least, in ms. */
export const refreshShare = 0.9;
export const marginMs = 10_000;

export interface WarmInput {
  readonly reading: Reading;
  /** Of the next request; null: its model is not there. */
  readonly way: Way | null;
  /** Of that way behind the prefix in force. */
  readonly scopeHash: string;
  /** The provider takes a body without output: no budget for thinking, no forced call. */
  readonly takesNoOutput: boolean;
  readonly options: TabOptions["keepWarm"];
  readonly now: number;
  /** A limit of the tab or the day is reached. */
  readonly isOverLimit: boolean;
}

export interface WarmPlan {
  readonly state: Exclude<ContextBody["warm"]["state"], "running">;
  readonly nextAt: number | null;
  /** The request to send again; null: there is none whose entry is alive. */
  readonly entry: Sent | null;
  /** Refreshes since the last turn, and what all of this log cost. */
  readonly count: number;
  readonly price: number;
  readonly refreshPrice: number | null;
  readonly missPrice: number | null;
  readonly breakEven: number | null;
}

export function warmPlan(input: WarmInput): WarmPlan {
  const { reading, way, options, now } = input;
  const entry = way === null ? null : entryOf(reading, way, input.scopeHash);
  const spent = spentOn(reading);
  const even =
    way === null || entry?.tokens == null
      ? { refreshPrice: null, missPrice: null, count: null }
      : breakEven(way.facts.prices, entry.tokens, entry.ttl ?? "5m");
  const { refreshPrice, missPrice } = even;
  const plan = { entry: null, nextAt: null, ...spent, refreshPrice, missPrice, breakEven: even.count } as const;
  if (options?.on !== true) return { ...plan, state: "off" };
  const cache = way === null ? null : cacheFactsOf(way);
  if (way === null || cache === null || way.target.profile.warmUp === null || !input.takesNoOutput) {
    return { ...plan, state: "unsupported" };
  }
  // Without a price the cap in money could not hold.
  if (way.facts.prices?.read == null) return { ...plan, state: "unsupported" };
  const isOver = spent.count >= options.countMax || spent.price + (refreshPrice ?? 0) > options.moneyMax;
  if (isOver || input.isOverLimit) return { ...plan, state: "over" };
  if (entry?.tokens == null || entry.tokens < cache.minTokens) return { ...plan, state: "waiting" };
  const lifeMs = lifeOf(entry.ttl, cache);
  const touchedAt = touchOf(reading, entry);
  if (touchedAt + lifeMs <= now) return { ...plan, state: "waiting" };
  const nextAt = touchedAt + Math.min(lifeMs * refreshShare, lifeMs - marginMs);
  return { ...plan, state: "waiting", entry, nextAt };
}

/** The newest step that the next request would extend. */
const entryOf = (reading: Reading, way: Way, scopeHash: string): Sent | null =>
  reading.sent.findLast(
    (one) =>
      one.purpose === "step" &&
      one.tokens !== null &&
      one.model === way.model &&
      one.scopeHash === scopeHash &&
      one.epoch === reading.epoch,
  ) ?? null;

/** Start of the newest request that read or wrote the entry. */
const touchOf = (reading: Reading, entry: Sent): number =>
  reading.sent
    .filter(
      (one) =>
        one.seq >= entry.seq &&
        one.tokens !== null &&
        one.model === entry.model &&
        one.scopeHash === entry.scopeHash &&
        one.epoch === entry.epoch,
    )
    .reduce((newest, { at }) => Math.max(newest, at), entry.at);

/** A refresh that failed counts too: else one that always fails would go on for ever. */
function spentOn({ sent }: Reading): { readonly count: number; readonly price: number } {
  const lastStep = sent.findLast(({ purpose }) => purpose === "step")?.seq ?? 0;
  const warm = sent.filter(({ purpose }) => purpose === "warm");
  return {
    count: warm.filter(({ seq }) => seq > lastStep).length,
    price: warm.reduce((sum, { usage }) => sum + (usage?.price ?? 0), 0),
  };
}
