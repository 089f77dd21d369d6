import type { LogId, StoredRow, TabId } from "@varve/protocol";
import { assert } from "@varve/protocol";
import { billLimit, otherFields, usageOf } from "../bill-rule.ts";
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
  const range = [from ?? -Infinity, to ?? Infinity] as const;
  const { billSums, billSumsOfTab, billSumsOfTurn } = store.sql;
  if (turnId !== undefined) return billSumsOfTurn.all(tabId, turnId, ...range).map(billSumIn);
  return (tabId === undefined ? billSums.all(...range) : billSumsOfTab.all(tabId, ...range)).map(billSumIn);
}

export function requestBefore(store: Store, logId: LogId, seq: number): number | null {
  const row = store.sql.requestBefore.get(logId, seq);
  return row === undefined ? null : number(row, "seq");
}

export const readFormerParents = (store: Store): ReadonlyMap<TabId, TabId> =>
  new Map(store.sql.formerParents.all().map((row) => [tabIdIn(row, "tab_id"), tabIdIn(row, "parent_id")]));
