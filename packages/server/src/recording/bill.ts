/** The bill of a recording: its requests, each once, with what they could have read and why they did not. */
import {
  addUsage,
  attainableOf,
  causePriceOf,
  emptySum,
  paidAgain,
  priceOf,
  shortfallOf,
  totalInput,
  type UsageData,
} from "@varve/agent";
import type { BillBody, LedgerSum, Recording, Shortfall } from "@varve/protocol";
import { BoundedMap } from "./bounded-map.ts";
import { recordingLimits } from "./limits.ts";
import type { NewRequest, RecordedRequest, Tip } from "./recorded.ts";

type Lost = BillBody["shortfalls"][number];

export class RecordingBill {
  readonly #open = new BoundedMap<string, RecordedRequest>(recordingLimits.requestsOpenMax, (one) => this.#close(one));
  readonly #known = new BoundedMap<string, RecordedRequest>(recordingLimits.requestsKnownMax);
  #count = 0;
  #sum = emptySum();
  readonly #models = new Map<string, LedgerSum>();
  readonly #causes = new Map<Shortfall["kind"], BillBody["causes"][number]>();
  #shortfalls: Lost[] = [];
  #told: number | null = null;

  /** The request of that id if it came before: the same request, written again. */
  known(id: string): RecordedRequest | undefined {
    return this.#known.get(id);
  }

  /** A new request behind `tip`. `id` null: nothing tells it from others. */
  add(id: string | null, tip: Tip, request: NewRequest): RecordedRequest {
    const { last: before, compacted, options } = tip;
    const added = { ...request, index: this.#count, before, compacted, options };
    const key = id ?? `#${this.#count}`;
    this.#count += 1;
    this.#known.set(key, added);
    this.#open.set(key, added);
    return added;
  }

  /** No request can be added or change behind this. */
  body(file: { readonly path: string; readonly format: Recording["format"]; readonly unreadable: number }): BillBody {
    this.#open.drain();
    const causes = [...this.#causes.values()].toSorted(
      (a, b) => (b.price ?? 0) - (a.price ?? 0) || b.tokens - a.tokens,
    );
    return {
      ...file,
      sum: this.#sum,
      told: this.#told,
      models: [...this.#models].map(([model, sum]) => ({ model, sum })).toSorted((a, b) => b.sum.price - a.sum.price),
      rewritten: rewrittenOf(causes, this.#sum),
      causes,
      shortfalls: this.#shortfalls,
    };
  }

  /** Closed in the order in which they began: the one before has its last figures by then. */
  #close(request: RecordedRequest): void {
    const { facts, before } = request;
    const { prices, cache } = facts;
    const attainable = attainableOf(before?.usage ?? null, cache);
    const usage: UsageData = { ...request.usage, attainable, price: priceOf(request.usage, prices) };
    request.usage = usage;
    const cause = causeOf(request);
    this.#sum = addUsage(this.#sum, usage, prices);
    const ofModel = this.#models.get(usage.model);
    if (ofModel !== undefined || this.#models.size < recordingLimits.modelsMax)
      this.#models.set(usage.model, addUsage(ofModel ?? emptySum(), usage, prices));
    if (request.told !== null) this.#told = (this.#told ?? 0) + request.told;
    if (cause !== null && attainable !== null) this.#lose(request, cause, attainable);
    request.before = null;
  }

  #lose(request: RecordedRequest, cause: Shortfall, attainable: number): void {
    const { usage, index, startedAt, facts } = request;
    const tokens = totalInput(paidAgain(usage, cause.tokens)) ?? 0;
    const price = causePriceOf({ ...usage, cause }, facts.prices);
    const so = this.#causes.get(cause.kind) ?? { kind: cause.kind, requests: 0, tokens: 0, price: null };
    this.#causes.set(cause.kind, {
      kind: cause.kind,
      requests: so.requests + 1,
      tokens: so.tokens + tokens,
      price: price === null ? so.price : (so.price ?? 0) + price,
    });
    const lost = { request: index, at: startedAt, model: usage.model, attainable, read: usage.read ?? 0, cause, price };
    this.#shortfalls = [...this.#shortfalls, lost].toSorted(dearestFirst).slice(0, recordingLimits.shortfallsMax);
  }
}

const dearestFirst = (a: Lost, b: Lost): number =>
  (b.price ?? 0) - (a.price ?? 0) || b.cause.tokens - a.cause.tokens || a.request - b.request;

function rewrittenOf(causes: BillBody["causes"], sum: LedgerSum): BillBody["rewritten"] {
  const tokens = causes.reduce((all, cause) => all + cause.tokens, 0);
  const known = causes.flatMap(({ price }) => (price === null ? [] : [price]));
  const price = causes.length > 0 && known.length === 0 ? null : known.reduce((all, one) => all + one, 0);
  return { tokens, price, share: price === null || sum.price === 0 ? null : price / sum.price };
}

/**
 * A recording has no rows to point at. What its tool changed in its own prompt it does not say, but that shows: where a provider
 * that keeps to its lifetimes read nothing at all, not even the system prompt, the front of the request was another one.
 */
function causeOf(request: RecordedRequest): Shortfall | null {
  const { before, usage, startedAt, facts, options, compacted } = request;
  if (before === null) return null;
  const cause = shortfallOf({
    chain: {
      before: {
        usage: before.usage,
        usageSeq: 0,
        startedAt: before.startedAt,
        scopeHash: before.options,
        ttl: before.ttl,
      },
      turnings: compacted ? [{ kind: "compaction", seq: 0 }] : [],
      touchedAt: before.startedAt,
      own: null,
    },
    now: { model: usage.model, read: usage.read, attainable: usage.attainable, startedAt, scopeHash: options },
    profile: request.exact ? "anthropic" : "openai-compatible",
    cache: facts.cache,
    guard: { kind: "extends" },
  });
  if (cause === null) return null;
  const { seq: _, ...told } = cause;
  const frontChanged = told.kind === "provider" && request.exact && usage.read === 0;
  return frontChanged ? { ...told, kind: "prefix" } : told;
}
