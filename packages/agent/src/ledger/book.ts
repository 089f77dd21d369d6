/** What a `usage` row says of its request beside the provider's own figures: price, attainable read, cause of a shortfall. */
import type { RequestPurpose, StoredRow } from "@varve/protocol";
import type { GuardVerdict } from "@varve/wire";
import type { ResolvedModel } from "../model/model.ts";
import type { Chain, Place } from "./chain.ts";
import { chainAt } from "./chain.ts";
import type { UsageData } from "./price.ts";
import { priceOf } from "./price.ts";
import { attainableOf, shortfallOf } from "./shortfall.ts";

export interface Booking {
  /** From `usageData`: what the provider told, without price, attainable and cause. */
  readonly usage: UsageData;
  /** The log's rows, ascending, with this request's `request` row; its own blocks may follow, its usage row must not. */
  readonly rows: readonly StoredRow[];
  /** Of the `request` row. */
  readonly place: Place;
  readonly model: {
    readonly facts: ResolvedModel["facts"];
    readonly target: { readonly profile: Pick<ResolvedModel["target"]["profile"], "name"> };
  };
  /** Milliseconds: when the request began. */
  readonly startedAt: number;
  /** What the prefix guard said of this request. */
  readonly guard: GuardVerdict;
  readonly purpose: RequestPurpose;
}

/** The whole data of the `usage` row. */
export function bookUsage(booking: Booking): UsageData {
  const { rows, place, model, startedAt, purpose } = booking;
  const chain = chainAt(rows, place);
  const usage = { ...booking.usage, ...writesByLifetime(booking.usage, chain, model) };
  const attainable = attainableOf(chain.before?.usage ?? null, model.facts.cache);
  const cause = shortfallOf({
    chain,
    now: { model: usage.model, read: usage.read, attainable, startedAt, scopeHash: chain.own?.scopeHash ?? null },
    profile: model.target.profile.name,
    cache: model.facts.cache,
    guard: booking.guard,
  });
  const price = billedPrice(usage, model) ?? priceOf(usage, model.facts.prices);
  return { ...usage, price, attainable, ...(cause === null ? {} : { cause }), purpose, startedAt };
}

/** Where the provider tells one figure of writes, they live as long as this request asked for. */
function writesByLifetime(usage: UsageData, { own }: Chain, { facts }: Booking["model"]): Partial<UsageData> {
  const isLong = own?.ttl === "1h" && facts.cache !== null && facts.cache.longMs !== null;
  return isLong && usage.write1h === null && usage.write5m !== null ? { write5m: 0, write1h: usage.write5m } : {};
}

/** OpenRouter says what it billed, which is right whatever seller it chose. With a person's own key, it is only its fee. */
function billedPrice({ raw }: UsageData, { target }: Booking["model"]): number | null {
  if (target.profile.name !== "openrouter" || typeof raw?.cost !== "number") return null;
  if (raw.is_byok !== true) return raw.cost;
  const details = raw.cost_details;
  const upstream = details !== null && typeof details === "object" && "upstream_inference_cost" in details;
  const amount = upstream ? details.upstream_inference_cost : null;
  return typeof amount === "number" ? raw.cost + amount : null;
}
