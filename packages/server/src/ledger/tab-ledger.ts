/** The bill of one tab, as its route answers it. */
import { addSums, emptySum, sumOfBill } from "@varve/agent";
import type { BillEntry, BillSum, LogEntry } from "@varve/log";
import type { LedgerBody, LedgerStep, LedgerSum, LogId, TabId, TurnId } from "@varve/protocol";
import type { Ledger } from "./ledger.ts";
import { ledgerStep } from "./ledger-step.ts";
import { childrenOf, familyOf, type Tree, type TreeNode } from "./tab-tree.ts";

/** A tab that can be looked at, among others that only have a name. */
export interface LedgerTab extends TreeNode {
  readonly logId: LogId;
}
export type NamedTab = TreeNode & { readonly title: string };
export interface LedgerPage {
  /** Steps with a `usageSeq` below it. */
  readonly before?: number;
  readonly limit?: number;
}

export const stepsDefault = 50;
/** More is cut to this. */
export const stepsMax = 200;

export async function tabLedger(
  ledger: Ledger,
  tabs: Tree<NamedTab>,
  asked: { readonly tab: LedgerTab } & LedgerPage,
): Promise<LedgerBody> {
  const { tab } = asked;
  const sum = (bills: readonly BillSum[]): LedgerSum => sumOf(ledger, bills);
  const family = (of: TabId): LedgerSum => sum([...familyOf(tabs, of)].flatMap((id) => ledger.sumsOf(id)));
  const own = ledger.sumsOf(tab.id);
  const { entries, more } = await entriesOf(ledger, asked);
  return {
    tab: tab.id,
    own: sum(own),
    whole: family(tab.id),
    children: childrenOf(tabs, tab.id).map(({ id, title }) => ({ tab: id, title, sum: family(id) })),
    turns: await turnsOf(ledger, tab.id, entries),
    models: byModel(ledger, own),
    steps: await Promise.all(entries.map((entry) => stepOf(ledger, entry))),
    more,
  };
}

export const sumOf = ({ ports }: Ledger, bills: readonly BillSum[]): LedgerSum =>
  bills.reduce((sum, bill) => addSums(sum, sumOfBill(bill, ports.facts(bill.model).prices)), emptySum());

/** The dearest first; unknown prices count as nothing here. */
export function byModel(ledger: Ledger, bills: readonly BillSum[]): { model: string; sum: LedgerSum }[] {
  const models = new Set(bills.map(({ model }) => model));
  const sums = [...models].map((model) => ({
    model,
    sum: sumOf(
      ledger,
      bills.filter((bill) => bill.model === model),
    ),
  }));
  return sums.sort((a, b) => b.sum.price - a.sum.price);
}

/**
 * Newest first, through the log that the tab points to and on into those earlier logs of its own that it was cut from. What a
 * fork shares with another tab is that tab's bill, and not here.
 */
async function entriesOf(
  { ports: { log } }: Ledger,
  { tab, before, limit }: { readonly tab: LedgerTab } & LedgerPage,
): Promise<{ readonly entries: readonly BillEntry[]; readonly more: boolean }> {
  const wanted = Math.min(Math.max(1, limit ?? stepsDefault), stepsMax);
  const logs = new Map((await log.logsOf(tab.id)).map((entry) => [entry.id, entry]));
  const entries: BillEntry[] = [];
  let below = before ?? Number.POSITIVE_INFINITY;
  let at: LogEntry | undefined = logs.get(tab.logId);
  while (at !== undefined && entries.length <= wanted) {
    entries.push(...(await log.billEntries({ logId: at.id, before: below, limit: wanted + 1 - entries.length })));
    below = Math.min(below, at.parentSeq + 1);
    at = at.parentId === null ? undefined : logs.get(at.parentId);
  }
  return { entries: entries.slice(0, wanted), more: entries.length > wanted };
}

/** The turns that these steps belong to, newest first, each whole. */
async function turnsOf(ledger: Ledger, tabId: TabId, entries: readonly BillEntry[]): Promise<LedgerBody["turns"]> {
  const turnIds: readonly TurnId[] = [...new Set(entries.map(({ turnId }) => turnId))].filter((id) => id !== "");
  const turns = turnIds.map(async (turnId) => {
    const bills = await ledger.ports.log.billSums({ tabId, turnId });
    const startedAt = bills.reduce((first, bill) => Math.min(first, bill.startedAt), Number.POSITIVE_INFINITY);
    return { turnId, startedAt, sum: sumOf(ledger, bills) };
  });
  return Promise.all(turns);
}

export async function stepOf(
  { ports }: Ledger,
  { logId, seq, turnId, step, at, usage }: BillEntry,
): Promise<LedgerStep> {
  const { model, purpose = "step", startedAt = at } = usage;
  const requestSeq = await ports.log.requestBefore(logId, seq);
  const place = { requestSeq, usageSeq: seq, turnId, step, purpose, model, startedAt, endedAt: at };
  return ledgerStep(place, usage, ports.facts(model).prices);
}
