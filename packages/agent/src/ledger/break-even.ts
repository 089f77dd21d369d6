/** Whether keeping a cache entry warm pays: what one refresh costs, what one miss costs, and how many of the first make one of the second. */
import type { CacheTtl } from "@varve/protocol";
import type { ModelPrices } from "../model/facts.ts";
import { ratesFor } from "./price.ts";

export interface BreakEven {
  /** US dollars: reading the prefix once. */
  readonly refreshPrice: number | null;
  /** US dollars: writing it again instead of reading it. */
  readonly missPrice: number | null;
  /** So many refreshes cost no more than one miss. */
  readonly count: number | null;
}

/** Binary fractions of prices fall a hair short of whole numbers. */
const hair = 1e-9;
const million = 1_000_000;

/** `tokens`: the cached prefix. Without a price for writing, what is missed is billed as fresh. */
export function breakEven(prices: ModelPrices | null, tokens: number, ttl: CacheTtl): BreakEven {
  const rates = prices === null ? null : ratesFor(prices, tokens);
  const read = rates?.read ?? null;
  const write = (ttl === "1h" ? rates?.write1h : rates?.write5m) ?? rates?.input ?? null;
  if (read === null || write === null) return { refreshPrice: null, missPrice: null, count: null };
  const refreshPrice = (tokens * read) / million;
  const missPrice = (tokens * (write - read)) / million;
  return { refreshPrice, missPrice, count: read === 0 ? null : Math.floor((write - read) / read + hair) };
}
