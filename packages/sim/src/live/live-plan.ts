/** What a run will send to one provider and what that costs, before anything is sent. Pure. */
import { factsOf, type ModelPrices, ratesFor } from "@varve/agent";
import { checksFor, offers } from "./catalogue.ts";
import type { Check, LiveProvider } from "./check.ts";
import type { LiveArguments } from "./live-arguments.ts";
import { liveLimits } from "./live-limits.ts";
import { dearest } from "./purse.ts";

export interface PlannedCheck {
  readonly check: Check;
  /** US dollars: at the very most, and as things usually go. Null: unknown. */
  readonly most: number | null;
  readonly likely: number | null;
}

export interface LivePlan {
  readonly provider: LiveProvider;
  readonly model: string;
  readonly other: string;
  readonly checks: readonly PlannedCheck[];
  readonly requests: number;
  readonly most: number | null;
  readonly likely: number | null;
}

/** Output of a step that does what it was told. */
const likelyOutput = 150;
/** Input of a usual request. */
const likelyInput = 6_000;

export function livePlan(provider: LiveProvider, args: LiveArguments): LivePlan {
  const { model, other } = offers[provider];
  const named = { model: args.model ?? model, other: args.other ?? other };
  const prices = factsOf(provider, named.model).prices;
  const checks = checksFor(provider, args.only).map((check): PlannedCheck => {
    const isLong = args.ttl === "1h" || check.name === "hour-upgrade" || check.name === "keep-warm";
    const each = dearest(
      prices,
      { inputTokens: liveLimits.inputTokensMax, outputTokens: liveLimits.outputTokensMax },
      isLong,
    );
    return { check, most: each === null ? null : each * check.requests, likely: likelyOf(check, prices) };
  });
  return {
    provider,
    ...named,
    checks,
    requests: checks.reduce((sum, { check }) => sum + check.requests, 0),
    most: sumOf(checks.map(({ most }) => most)),
    likely: sumOf(checks.map(({ likely }) => likely)),
  };
}

/** Each tab writes its head once, and the other requests read it. */
function likelyOf({ tabs, requests }: Check, prices: ModelPrices | null): number | null {
  if (prices === null) return null;
  const { input, read, write5m, output } = ratesFor(prices, likelyInput);
  if (input === null || output === null) return null;
  const perMillion = tabs * likelyInput * (write5m ?? input) + (requests - tabs) * likelyInput * (read ?? input);
  return (perMillion + requests * likelyOutput * output) / 1e6;
}

function sumOf(amounts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === null) return null;
    sum += amount;
  }
  return sum;
}

export const dollars = (amount: number | null): string => (amount === null ? "unknown" : `$${amount.toFixed(4)}`);

export function planLines(plan: LivePlan, moneyMax: number): readonly string[] {
  const { provider, model, requests, most, likely } = plan;
  const cap = `It stops before $${moneyMax}, ${liveLimits.requestsMax} requests or ${liveLimits.tokensMax} tokens are passed.`;
  const unknown = `The price of this model is unknown. It stops at ${liveLimits.requestsMax} requests or ${liveLimits.tokensMax} tokens.`;
  return [
    `${provider}/${model}: ${requests} requests, at most ${dollars(most)}, more likely ${dollars(likely)}. ${most === null ? unknown : cap}`,
    ...plan.checks.map(({ check, most: one }) => {
      const point = check.point === null ? "" : ` (open point ${check.point})`;
      return `  ${check.name}${point}: ${check.what} ${check.requests} requests, at most ${dollars(one)}.`;
    }),
  ];
}
