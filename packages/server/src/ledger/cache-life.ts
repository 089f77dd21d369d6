/** Until when the newest cache entry of each tab lives, from the rows as they are sealed. */
import type { ModelFacts } from "@varve/agent";
import type { BillEntry } from "@varve/log";
import type { CacheTtl, LogId, StoredRow, TabId } from "@varve/protocol";

export interface CachePlace {
  readonly tabId: TabId;
  readonly logId: LogId;
}
interface Life {
  readonly logId: LogId;
  readonly until: number | null;
}

/** How long an entry lives that a request of this model touched. Null: the model caches nothing, or nobody knows how. */
export function lifetimeMs({ cache }: Pick<ModelFacts, "cache">, ttl: CacheTtl): number | null {
  if (cache === null) return null;
  return ttl === "1h" ? (cache.longMs ?? cache.shortMs) : cache.shortMs;
}

export class CacheLives {
  readonly #facts: (model: string) => ModelFacts;
  readonly #lives = new Map<TabId, Life>();
  /** Of the newest `request` row of a tab: what its `usage` row does not say. */
  readonly #requested = new Map<TabId, CacheTtl>();

  constructor(facts: (model: string) => ModelFacts) {
    this.#facts = facts;
  }

  sealed(place: CachePlace, row: StoredRow): void {
    if (row.type !== "system") return;
    if (row.data.kind === "request") this.#requested.set(place.tabId, row.data.ttl ?? "5m");
    if (row.data.kind === "usage") this.#touched(place, row.data, this.#requested.get(place.tabId) ?? "5m");
  }

  /** From the bill, after a start: which lifetime was asked for then only the tab's options can say. */
  found(entry: BillEntry, ttl: CacheTtl): void {
    this.#touched(entry, entry.usage, ttl);
  }

  /** Null when none is known of the log that the tab points to. */
  untilOf({ tabId, logId }: CachePlace): number | null {
    const life = this.#lives.get(tabId);
    return life?.logId === logId ? life.until : null;
  }

  forget(tab: TabId): void {
    this.#lives.delete(tab);
    this.#requested.delete(tab);
  }

  #touched({ tabId, logId }: CachePlace, { model, startedAt }: BillEntry["usage"], ttl: CacheTtl): void {
    const lifetime = startedAt === undefined ? null : lifetimeMs(this.#facts(model), ttl);
    const until = startedAt === undefined || lifetime === null ? null : startedAt + lifetime;
    this.#lives.set(tabId, { logId, until });
  }
}
