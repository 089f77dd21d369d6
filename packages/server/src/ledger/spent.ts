/** What was spent, in memory: by tab for ever, by day for the days that a limit may still ask for. */
import { addedBill, type BillEntry, type BillSum, billKey } from "@varve/log";
import type { TabId } from "@varve/protocol";
import { dayAt, type LocalDay, type OffsetAt } from "./local-day.ts";
import { addedCosts, type Cost } from "./money-limits.ts";

/** Days kept. A clock that is put back by less finds its day again; one put back further begins that day at nothing. */
const daysMax = 3;

interface Day extends LocalDay {
  readonly cost: Cost;
}

export interface SpentAtStart {
  readonly sums: readonly BillSum[];
  readonly today: readonly BillSum[];
  readonly now: number;
}

export class Spent {
  readonly #offsetAt: OffsetAt;
  readonly #tabs = new Map<TabId, Map<string, BillSum>>();
  #days: readonly Day[];

  constructor({ sums, today, now }: SpentAtStart, offsetAt: OffsetAt) {
    this.#offsetAt = offsetAt;
    for (const sum of sums) this.#of(sum.tabId).set(keyOf(sum), sum);
    this.#days = [{ ...dayAt(now, offsetAt), cost: addedCosts(today) }];
  }

  book(entry: BillEntry): void {
    const tab = this.#of(entry.tabId);
    const key = billKey(entry);
    tab.set(key, addedBill(tab.get(key), entry));
    const day = this.#day(entry.at);
    const { price } = entry.usage;
    const cost = addedCosts([day.cost, { price: price ?? 0, unpriced: price === null ? 1 : 0 }]);
    this.#days = this.#days.map((one) => (one.from === day.from ? { ...one, cost } : one));
  }

  /** By model and purpose. */
  sumsOf(tab: TabId): readonly BillSum[] {
    return [...(this.#tabs.get(tab)?.values() ?? [])];
  }

  costOf(tab: TabId): Cost {
    const { price, unpriced } = addedCosts(this.#tabs.get(tab)?.values() ?? []);
    return { price, unpriced };
  }

  onDayOf(ms: number): Cost {
    return this.#day(ms).cost;
  }

  #day(ms: number): Day {
    const known = this.#days.find(({ from, to }) => from <= ms && ms < to);
    if (known !== undefined) return known;
    const day = { ...dayAt(ms, this.#offsetAt), cost: { price: 0, unpriced: 0 } };
    this.#days = [...this.#days, day].toSorted((a, b) => a.from - b.from).slice(-daysMax);
    return day;
  }

  #of(tab: TabId): Map<string, BillSum> {
    const known = this.#tabs.get(tab);
    if (known !== undefined) return known;
    const made = new Map<string, BillSum>();
    this.#tabs.set(tab, made);
    return made;
  }
}

const keyOf = ({ tabId, model, purpose }: BillSum): string => JSON.stringify([tabId, model, purpose]);
