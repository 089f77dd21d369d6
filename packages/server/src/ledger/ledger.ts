/**
 * The ledger of this server: what each tab and each day cost. Sums are read once at the start, in two grouped queries, and
 * kept up with every `usage` row from then on; tables by step and by day are read when somebody looks at them.
 */
import type { ModelFacts } from "@varve/agent";
import { type BillEntry, type BillSum, billEntryOf, type Fence, type Log, type TabEntry } from "@varve/log";
import type { Clock, LogId, StoredRow, TabId } from "@varve/protocol";
import { CacheLives } from "./cache-life.ts";
import { dayAt, daysUntil, hereOffset, type LocalDay, type OffsetAt } from "./local-day.ts";
import type { Cost } from "./money-limits.ts";
import { Spent } from "./spent.ts";

export type LedgerLog = Pick<Log, "billEntries" | "billSums" | "requestBefore" | "logsOf">;

export interface LedgerPorts {
  readonly log: LedgerLog;
  readonly clock: Clock;
  readonly facts: (model: string) => ModelFacts;
  /** The place whose days are meant. Default: where this process runs. */
  readonly offsetAt?: OffsetAt;
}

/** An entry that began earlier has no cache left whose end anybody would watch. */
const cacheLookBackMs = 24 * 3_600_000;
/** Days whose sums are remembered; beyond it all are forgotten and read anew. */
const daySumsMax = 400;
/** Sums of a day are remembered when it has been over for so long: no row of it is on its way any more. */
const daySettledMs = 3_600_000;

export class Ledger {
  readonly ports: LedgerPorts;
  readonly #offsetAt: OffsetAt;
  readonly #spent: Spent;
  readonly #caches: CacheLives;
  /** Sums of days that are over, by their first millisecond. */
  readonly #daySums = new Map<number, readonly BillSum[]>();

  private constructor(ports: LedgerPorts, spent: Spent) {
    this.ports = ports;
    this.#offsetAt = ports.offsetAt ?? hereOffset;
    this.#spent = spent;
    this.#caches = new CacheLives(ports.facts);
  }

  static async load(ports: LedgerPorts, tabs: readonly TabEntry[]): Promise<Ledger> {
    const { log, clock, offsetAt = hereOffset } = ports;
    const now = clock.now();
    const { from, to } = dayAt(now, offsetAt);
    const [sums, today, recent] = await Promise.all([
      log.billSums({}),
      log.billSums({ from, to }),
      log.billEntries({ from: now - cacheLookBackMs }),
    ]);
    const ledger = new Ledger(ports, new Spent({ sums, today, now }, offsetAt));
    ledger.#findCaches(recent, tabs);
    return ledger;
  }

  /** These rows of the tab are durable. True: what the tab costs has changed. */
  sealed(fence: Pick<Fence, "tabId" | "logId">, rows: readonly StoredRow[]): boolean {
    let billed = false;
    for (const row of rows) {
      this.#caches.sealed(fence, row);
      const entry = billEntryOf(fence, row);
      if (entry === null) continue;
      this.#spent.book(entry);
      this.#daySums.delete(dayAt(entry.at, this.#offsetAt).from);
      billed = true;
    }
    return billed;
  }

  costOf(tab: TabId): Cost {
    return this.#spent.costOf(tab);
  }
  sumsOf(tab: TabId): readonly BillSum[] {
    return this.#spent.sumsOf(tab);
  }
  /** All tabs of this server, purged ones included. */
  today(): Cost {
    return this.#spent.onDayOf(this.ports.clock.now());
  }
  /** The first millisecond of today. */
  todayFrom(): number {
    return dayAt(this.ports.clock.now(), this.#offsetAt).from;
  }
  cacheUntil(tab: TabId, logId: LogId): number | null {
    return this.#caches.untilOf({ tabId: tab, logId });
  }
  purged(tab: TabId): void {
    this.#caches.forget(tab);
  }

  /** The last `count` days, ascending, each with its sums by tab, model and purpose. */
  async days(count: number): Promise<readonly { readonly day: string; readonly sums: readonly BillSum[] }[]> {
    const now = this.ports.clock.now();
    const found: { day: string; sums: readonly BillSum[] }[] = [];
    for (const day of daysUntil(now, count, this.#offsetAt)) {
      found.push({ day: day.day, sums: await this.#sumsOfDay(day, now) });
    }
    return found;
  }

  async #sumsOfDay({ from, to }: LocalDay, now: number): Promise<readonly BillSum[]> {
    if (from >= to) return [];
    const known = this.#daySums.get(from);
    if (known !== undefined) return known;
    const sums = await this.ports.log.billSums({ from, to });
    if (this.#daySums.size >= daySumsMax) this.#daySums.clear();
    if (to <= now - daySettledMs) this.#daySums.set(from, sums);
    return sums;
  }

  #findCaches(newestFirst: readonly BillEntry[], tabs: readonly TabEntry[]): void {
    const ttls = new Map(tabs.map(({ id, options }) => [id, options.cacheTtl === "1h" ? "1h" : "5m"] as const));
    for (const entry of newestFirst.toReversed()) {
      const ttl = ttls.get(entry.tabId);
      if (ttl !== undefined) this.#caches.found(entry, ttl);
    }
  }
}
