/** What this server's tabs cost by day, as the route answers it. */
import type { BillSum } from "@varve/log";
import type { TabId, UsageBody } from "@varve/protocol";
import type { Ledger } from "./ledger.ts";
import { byModel, sumOf } from "./tab-ledger.ts";

export const daysDefault = 30;
export const daysMax = 366;
/** Tabs that are listed, the dearest ones. Days and models count all of them. */
const tabsMax = 500;

export interface UsageSurroundings {
  /** Null for a tab that is gone. */
  readonly titleOf: (tab: TabId) => string | null;
  readonly dayMoneyMax: number | null;
}

export async function usageBody(ledger: Ledger, count: number, around: UsageSurroundings): Promise<UsageBody> {
  const days = await ledger.days(count);
  const all = days.flatMap(({ sums }) => sums);
  return {
    days: days.map(({ day, sums }) => ({ day, sum: sumOf(ledger, sums) })),
    models: byModel(ledger, all),
    tabs: byTab(ledger, all)
      .slice(0, tabsMax)
      .map(({ tab, sum }) => ({ tab, title: around.titleOf(tab), sum })),
    today: sumOf(ledger, days.at(-1)?.sums ?? []),
    dayMoneyMax: around.dayMoneyMax,
  };
}

function byTab(ledger: Ledger, bills: readonly BillSum[]) {
  const byId = new Map<TabId, BillSum[]>();
  for (const bill of bills) byId.set(bill.tabId, [...(byId.get(bill.tabId) ?? []), bill]);
  const sums = [...byId].map(([tab, own]) => ({ tab, sum: sumOf(ledger, own) }));
  return sums.sort((a, b) => b.sum.price - a.sum.price);
}
