/**
 * What the next request would take and cost, before it is made: tokens from the last bill and an estimate of what differs
 * since, the cached part from the entries that the log's own requests left and that are alive. Pure.
 */
import { type CacheFacts, inputPriceOf, type ModelFacts, ratesFor, rowTokens } from "@varve/agent";
import type { CacheTtl, PrefixData, Preview, StoredRow } from "@varve/protocol";
import type { WireTarget } from "@varve/wire";
import { newestBilled, type Reading, readingWith, roughRows, roughTokens, type Sent, scaleFor } from "./log-reading.ts";

/** How requests would be made: a model with its options. */
export interface Way {
  readonly model: string;
  readonly target: WireTarget;
  readonly facts: ModelFacts;
  readonly ttl: CacheTtl;
  /** Of a request behind this prefix. */
  readonly scopeHash: (prefix: PrefixData) => string;
}

/** The log as it is, and how its base was sent. */
export interface Ground {
  readonly rows: readonly StoredRow[];
  readonly reading: Reading;
  /** Whom a model's requests were for; null when the model is not there any more. */
  readonly targetOf: (model: string) => WireTarget | null;
  readonly now: number;
  /** Sizes that were measured on this ground already. */
  readonly measured: Map<string, number>;
}

export interface Forecast {
  readonly tokens: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly fresh: number;
  readonly price: number | null;
  /** When the entry that it would read expires; null: it would read none. */
  readonly until: number | null;
}

/** Rules of a provider that takes breakpoints but whose model is in no table. */
const marksAlone = { minTokens: 0, shortMs: 300_000, longMs: 3_600_000 } as const;

export const cacheFactsOf = ({ facts, target }: Pick<Way, "facts" | "target">) =>
  facts.cache ?? (target.profile.breakpoints === "tails" ? marksAlone : null);

/** `more`: rows that an act would add, as if they were sealed. */
export function forecast(ground: Ground, way: Way, more: readonly StoredRow[] = []): Forecast {
  const wanted = { more, reading: readingWith(ground.reading, more) };
  const tokens = expectedTokens(ground, way, wanted);
  const hit = cachedPart(ground, way, wanted);
  const read = hit === null ? 0 : Math.min(hit.tokens, tokens);
  return { ...billOf(way, tokens, read), until: hit?.until ?? null };
}

/** The bill of a request of this size that reads so much. */
export function billOf(way: Way, tokens: number, read: number): Omit<Forecast, "until"> {
  const cache = cacheFactsOf(way);
  const rest = tokens - read;
  const writes = cache !== null && tokens >= cache.minTokens && doesWrite(way);
  const isLong = way.ttl === "1h" && cache?.longMs != null && way.target.profile.breakpoints === "tails";
  const figures = {
    read,
    write5m: writes && !isLong ? rest : 0,
    write1h: writes && isLong ? rest : 0,
    fresh: writes ? 0 : rest,
  };
  const { prices } = way.facts;
  const price = prices === null ? null : inputPriceOf(figures, ratesFor(prices, tokens));
  return { tokens, ...figures, price };
}

const doesWrite = ({ target, facts }: Way): boolean =>
  target.profile.breakpoints === "tails" || (facts.prices?.write5m ?? null) !== null;

/** The ground with rows behind it. */
interface Candidate {
  readonly more: readonly StoredRow[];
  readonly reading: Reading;
}

/** What was billed last, with what it brought, plus the difference by rule of thumb: the error is the difference's alone. */
function expectedTokens(ground: Ground, way: Way, wanted: Candidate): number {
  const { rows, reading } = ground;
  const scale = scaleFor(reading, way.model);
  const base = newestBilled(reading, way.model) ?? newestBilled(reading);
  const measure = { reading: wanted.reading, target: way.target, scale };
  const whole = { held: rows, end: rows.length, more: wanted.more };
  if (base?.tokens == null || base.usageSeq === null) return roughTokens(whole, measure);
  const isSame = base.model === way.model;
  const target = isSame ? way.target : ground.targetOf(base.model);
  const billed = base.tokens + returnedTokens(base, rows, target);
  // Nothing before it is read otherwise than it was: what came since is all that differs.
  if (isSame && base.epoch === wanted.reading.epoch) {
    const since = { from: base.usageSeq, end: rows.length };
    return billed + roughRows(rows, measure, since) + roughRows(wanted.more, measure);
  }
  const before = sizeAt(ground, base.usageSeq, { target, scale });
  return Math.max(0, billed + roughTokens(whole, measure) - before);
}

/** Of the log up to a row; measured once. */
function sizeAt(
  { rows, reading, measured }: Ground,
  seq: number,
  { target, scale }: { readonly target: WireTarget | null; readonly scale: number },
): number {
  const key = `${seq} ${scale} ${target?.modelScope ?? ""}`;
  const known = measured.get(key);
  if (known !== undefined) return known;
  const size = roughTokens({ held: rows, end: seq, more: [] }, { reading: reading.viewAt(seq), target, scale });
  measured.set(key, size);
  return size;
}

/** What a step's answer adds to the next request. Thinking that is never sent back adds nothing. */
function returnedTokens(base: Sent, rows: readonly StoredRow[], target: WireTarget | null): number {
  const output = base.usage?.output ?? 0;
  const isSent = rows
    .slice(base.seq, base.usageSeq ?? base.seq)
    .some(
      (row) =>
        row.type === "thinking" &&
        row.turnId === base.turnId &&
        row.step === base.step &&
        target?.profile.replay(row.data) != null,
    );
  return isSent ? output : output - (base.usage?.reasoning ?? 0);
}

export const lifeOf = (ttl: CacheTtl | null, { shortMs, longMs }: CacheFacts): number =>
  ttl === "1h" ? (longMs ?? shortMs) : shortMs;

/** The longest entry that the request would read, and until when. */
function cachedPart(
  { reading, rows, now }: Ground,
  way: Way,
  wanted: Candidate,
): { readonly tokens: number; readonly until: number } | null {
  const cache = cacheFactsOf(way);
  const { prefixSeq } = wanted.reading;
  const prefix = prefixRow(rows[prefixSeq - 1] ?? wanted.more.find(({ seq }) => seq === prefixSeq));
  if (cache === null || prefix === null) return null;
  const scope = way.scopeHash(prefix.data);
  const own = reading.sent.filter((one) => one.model === way.model && one.scopeHash === scope && one.tokens !== null);
  const untilOf = (sent: readonly Sent[]): number =>
    sent.reduce((until, one) => Math.max(until, one.at + lifeOf(one.ttl, cache)), 0);
  const entry = own.findLast((one) => one.purpose === "step" && one.epoch === wanted.reading.epoch);
  if (entry?.tokens != null && entry.tokens >= cache.minTokens) {
    const until = untilOf(own.filter((one) => one.epoch === entry.epoch && one.seq >= entry.seq));
    if (until > now) return { tokens: entry.tokens, until };
  }
  if (way.target.profile.breakpoints === "none") return null;
  const heads = new Set(own.map(({ prefixSeq }) => prefixSeq));
  for (const seq of heads) if (!beginsWith(prefix.data, prefixRow(rows[seq - 1])?.data)) heads.delete(seq);
  const shared = own.filter(({ prefixSeq }) => heads.has(prefixSeq));
  const until = untilOf(shared);
  const first = shared.at(-1);
  const head = first === undefined ? null : prefixRow(rows[first.prefixSeq - 1]);
  const tokens = head === null ? 0 : rowTokens(head, scaleFor(reading, way.model));
  return until > now && tokens > 0 && tokens >= cache.minTokens ? { tokens, until } : null;
}

type PrefixRow = StoredRow & { readonly type: "system"; readonly data: PrefixData };
function prefixRow(row: StoredRow | undefined): PrefixRow | null {
  return row?.type === "system" && row.data.kind === "prefix" ? { ...row, data: row.data } : null;
}

/** Whether an entry at the end of the other's system blocks is one in this prefix too. That tools are equal the scope says. */
function beginsWith(prefix: PrefixData, other: PrefixData | undefined): boolean {
  return other?.system.every((block, index) => block === prefix.system[index]) === true;
}

/** In the words of the page. `now`: the request if nothing is changed. */
export function previewOf(next: Forecast, now: Forecast | null, note?: string): Preview {
  const { tokens, read, fresh, price } = next;
  const written = next.write5m + next.write1h;
  return { tokens, read, written, fresh, price, priceNow: now?.price ?? null, ...(note !== undefined && { note }) };
}
