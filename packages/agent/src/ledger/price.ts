/** What tokens cost. Pure; money in US dollars, rates for a million tokens. Unknown is null. */
import type { SystemData } from "@varve/protocol";
import type { ModelPrices, Rates } from "../model/facts.ts";

export type UsageData = Extract<SystemData, { kind: "usage" }>;
export type TokenFigures = Pick<UsageData, "fresh" | "read" | "write5m" | "write1h" | "output">;
export type InputFigures = Omit<TokenFigures, "output">;

const million = 1_000_000;

/** The whole input, or null where the provider said nothing. A part that was not told is in `fresh`. */
export function totalInput({ fresh, read, write5m, write1h }: InputFigures): number | null {
  return fresh === null ? null : fresh + (read ?? 0) + (write5m ?? 0) + (write1h ?? 0);
}

/** The rates of a request with this whole input. */
export function ratesFor(prices: ModelPrices, total: number): Rates {
  return prices.tiers.findLast(({ above }) => total > above) ?? prices;
}

/** Whatever it takes costs nothing, and that is known. */
const isFree = ({ tiers, ...rates }: ModelPrices): boolean =>
  [rates, ...tiers].every(({ input, output, read, write5m, write1h }) =>
    [input, output, read, write5m, write1h].every((rate) => rate === 0),
  );

/** Null when the provider told too little, or when the rate of any tokens that there are is unknown. */
export function priceOf(usage: TokenFigures, prices: ModelPrices | null): number | null {
  const total = totalInput(usage);
  if (prices !== null && isFree(prices)) return 0;
  if (prices === null || total === null || usage.output === null) return null;
  const rates = ratesFor(prices, total);
  return sumOf([inputPriceOf(usage, rates), amount(usage.output, rates.output)]);
}

/** As `priceOf`, of the input alone and at given rates. */
export function inputPriceOf({ fresh, read, write5m, write1h }: InputFigures, rates: Rates): number | null {
  return sumOf([
    amount(fresh, rates.input),
    amount(read, rates.read),
    amount(write5m, rates.write5m),
    amount(write1h, rates.write1h),
  ]);
}

/**
 * What reading saved: the tokens read at the price of fresh ones, less the surcharge of writing. 0 where a rate is unknown:
 * nothing that can be claimed.
 */
export function savedOf(usage: InputFigures, prices: ModelPrices | null): number {
  const total = totalInput(usage);
  if (prices === null || total === null) return 0;
  const rates = ratesFor(prices, total);
  const asFresh = amount(total, rates.input);
  const asBilled = inputPriceOf(usage, rates);
  return asFresh === null || asBilled === null ? 0 : asFresh - asBilled;
}

/** What a shortfall cost more than reading would have. Null when a rate is unknown, 0 without a shortfall. */
export function causePriceOf(
  step: InputFigures & { readonly cause?: { readonly tokens: number } | null | undefined },
  prices: ModelPrices | null,
): number | null {
  if (step.cause === null || step.cause === undefined) return 0;
  const total = totalInput(step);
  if (prices === null || total === null) return null;
  const rates = ratesFor(prices, total);
  const again = paidAgain(step, step.cause.tokens);
  const paid = inputPriceOf(again, rates);
  const asRead = amount(totalInput(again), rates.read);
  return paid === null || asRead === null ? null : paid - asRead;
}

/**
 * The tokens that a shortfall made this request pay for again: no more than it sent without reading. They stand at the front of
 * what was not read, and there the longer entries come first, then the shorter ones, then what is not cached.
 */
export function paidAgain(usage: InputFigures, missing: number): InputFigures {
  let left = missing;
  const take = (tokens: number | null): number => {
    const taken = Math.min(left, tokens ?? 0);
    left -= taken;
    return taken;
  };
  return { read: 0, write1h: take(usage.write1h), write5m: take(usage.write5m), fresh: take(usage.fresh) };
}

function amount(tokens: number | null, rate: number | null): number | null {
  if (tokens === null || tokens === 0) return 0;
  return rate === null ? null : (tokens * rate) / million;
}

function sumOf(amounts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const one of amounts) {
    if (one === null) return null;
    sum += one;
  }
  return sum;
}
