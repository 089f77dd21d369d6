import type { StoredRow } from "@varve/protocol";
import { billLimit, otherFields, usageOf } from "../bill-rule.ts";
import type { BillEntry, BillQuery, BillSum, Fence } from "../log.ts";
import { jsonText } from "../well-formed.ts";
import { billIn, billSumIn } from "./decode.ts";
import type { Store } from "./store.ts";

/** Inside the transaction that seals the row; does nothing for any other than a usage row. */
export function insertBill(store: Store, fence: Fence, row: StoredRow): void {
  const usage = usageOf(row);
  if (usage === null) return;
  const { model, purpose, fresh, read, write5m, write1h, output, reasoning, price, attainable } = usage;
  store.sql.insertBill.run(
    ...([fence.tabId, fence.logId, row.seq, row.turnId, row.step, row.createdAt, model, purpose] as const),
    ...([fresh, read, write5m, write1h, output, reasoning, price, attainable] as const),
    jsonText(otherFields(usage)),
  );
}

export function readBills(store: Store, query: BillQuery): readonly BillEntry[] {
  const { tabId, logId, from, to, before } = query;
  const { bills, billsOfTab, billsOfLog, billsOfTabInLog } = store.sql;
  const range = [from ?? -Infinity, to ?? Infinity, before ?? Infinity, billLimit(query)] as const;
  if (logId !== undefined && tabId !== undefined) return billsOfTabInLog.all(logId, tabId, ...range).map(billIn);
  if (logId !== undefined) return billsOfLog.all(logId, ...range).map(billIn);
  if (tabId !== undefined) return billsOfTab.all(tabId, ...range).map(billIn);
  return bills.all(...range).map(billIn);
}

export function readBillSums(store: Store, query: Pick<BillQuery, "tabId" | "from" | "to">): readonly BillSum[] {
  const { tabId, from, to } = query;
  const range = [from ?? -Infinity, to ?? Infinity] as const;
  const { billSums, billSumsOfTab } = store.sql;
  return (tabId === undefined ? billSums.all(...range) : billSumsOfTab.all(tabId, ...range)).map(billSumIn);
}
