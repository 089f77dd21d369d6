import type { LogId, StoredRow, TabId } from "@varve/protocol";
import { assert } from "@varve/protocol";
import { addedBill, billEntryOf, billLimit, otherFields, purposeOf, usageOf } from "../bill-rule.ts";
import type { BillEntry, BillQuery, BillSum, BillSumQuery, Fence } from "../log.ts";
import { jsonText } from "../well-formed.ts";
import { billIn, billSumIn, number, tabIdIn } from "./decode.ts";
import type { Store } from "./store.ts";

/** Inside the transaction that seals the row; does nothing for any other than a usage row. */
export function insertBill(store: Store, fence: Fence, row: StoredRow): void {
  const usage = usageOf(row);
  if (usage === null) return;
  const { model, purpose, fresh, read, write5m, write1h, output, reasoning, price, attainable, startedAt } = usage;
  store.sql.insertBill.run(
    ...([fence.tabId, fence.logId, row.seq, row.turnId, row.step, row.createdAt, model, purpose] as const),
    ...([fresh, read, write5m, write1h, output, reasoning, price, attainable, startedAt] as const),
    jsonText(otherFields(usage)),
  );
  const entry = billEntryOf(fence, row);
  if (entry !== null) addToTotal(store, entry);
}

/** In the same transaction: totals and bill are never apart. */
function addToTotal({ sql }: Store, entry: BillEntry): void {
  const before = sql.billTotal.get(entry.tabId, entry.usage.model, purposeOf(entry.usage));
  const total = addedBill(before === undefined ? undefined : billSumIn(before), entry);
  const { fresh, read, write5m, write1h, output, reasoning, attainable, attained, price } = total;
  sql.putBillTotal.run(
    ...([total.tabId, total.model, total.purpose, total.requests, total.untold, fresh, read] as const),
    ...([write5m, write1h, output, reasoning, attainable, attained, price, total.unpriced, total.startedAt] as const),
  );
}

/** Each of the conditions with an index narrows the read; the others are few entries' work. */
export function readBills(store: Store, query: BillQuery): readonly BillEntry[] {
  const { tabId, logId, turnId, from, to, before } = query;
  assert(turnId === undefined || tabId !== undefined, "a turn's bill is asked for without its tab");
  const { bills, billsOfTab, billsOfTurn, billsOfLog } = store.sql;
  const range = [from ?? -Infinity, to ?? Infinity, before ?? Infinity, billLimit(query)] as const;
  if (turnId !== undefined) return billsOfTurn.all(tabId, turnId, ...range).map(billIn);
  if (logId !== undefined) return billsOfLog.all(logId, ...range).map(billIn);
  if (tabId !== undefined) return billsOfTab.all(tabId, ...range).map(billIn);
  return bills.all(...range).map(billIn);
}

export function readBillSums(store: Store, { tabId, turnId, from, to }: BillSumQuery): readonly BillSum[] {
  assert(turnId === undefined || tabId !== undefined, "a turn's bill is asked for without its tab");
  const { sql } = store;
  if (turnId === undefined && from === undefined && to === undefined)
    return (tabId === undefined ? sql.billTotals.all() : sql.billTotalsOfTab.all(tabId)).map(billSumIn);
  const range = [from ?? -Infinity, to ?? Infinity] as const;
  const { billSums, billSumsOfTab, billSumsOfTurn } = sql;
  if (turnId !== undefined) return billSumsOfTurn.all(tabId, turnId, ...range).map(billSumIn);
  return (tabId === undefined ? billSums.all(...range) : billSumsOfTab.all(tabId, ...range)).map(billSumIn);
}

export function requestBefore(store: Store, logId: LogId, seq: number): number | null {
  const row = store.sql.requestBefore.get(logId, seq);
  return row === undefined ? null : number(row, "seq");
}

export const readFormerParents = (store: Store): ReadonlyMap<TabId, TabId> =>
  new Map(store.sql.formerParents.all().map((row) => [tabIdIn(row, "tab_id"), tabIdIn(row, "parent_id")]));
