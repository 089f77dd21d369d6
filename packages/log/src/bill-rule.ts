/** What both logs keep of a `usage` row for the bill, and how they add it up. */
import type { JsonObject, NewRow, RequestPurpose, StoredRow, SystemData } from "@varve/protocol";
import type { BillEntry, BillQuery, BillSum, Fence } from "./log.ts";

export type UsageData = Extract<SystemData, { kind: "usage" }>;

/** Entries that one query answers at most. */
export const billEntriesMax = 500;

export const billLimit = (query: BillQuery): number =>
  Math.min(Math.max(1, Math.trunc(query.limit ?? billEntriesMax)), billEntriesMax);

/** What a row's usage is, or null for every other row. */
export const usageOf = (row: NewRow): UsageData | null =>
  row.type === "system" && row.data.kind === "usage" ? row.data : null;

export const purposeOf = (usage: UsageData): RequestPurpose => usage.purpose ?? "step";

/** Without `raw`, which is large and stays with its row. */
export function billedUsage(usage: UsageData): UsageData {
  const { raw: _, ...billed } = usage;
  return billed;
}

/** Null for a row that is no usage row. */
export function billEntryOf(fence: Pick<Fence, "tabId" | "logId">, row: StoredRow): BillEntry | null {
  const usage = usageOf(row);
  if (usage === null) return null;
  const { seq, turnId, step, createdAt } = row;
  return { tabId: fence.tabId, logId: fence.logId, seq, turnId, step, at: createdAt, usage: billedUsage(usage) };
}

/** The fields of a usage row that are columns of their own. */
const ownColumns = new Set([
  "kind",
  "model",
  "fresh",
  "read",
  "write5m",
  "write1h",
  "output",
  "reasoning",
  "price",
  "attainable",
  "purpose",
  "startedAt",
  "raw",
]);
/** Everything else of it, which one column keeps as JSON: what a later Varve adds needs no migration. */
export const otherFields = (usage: UsageData): JsonObject =>
  Object.fromEntries(Object.entries(usage).filter(([name, value]) => !ownColumns.has(name) && value !== undefined));

/** Tokens that were read of those that could have been; null unless both are known. */
export const attainedOf = ({ read, attainable }: UsageData): number | null =>
  read === null || attainable === null ? null : Math.min(read, attainable);

export const isUntold = ({ fresh, read, write5m, write1h, output, reasoning }: UsageData): boolean =>
  [fresh, read, write5m, write1h, output, reasoning].every((tokens) => tokens === null);

/** The sum with one entry more; undefined: the entry alone. Of the same tab, model and purpose. */
export function addedBill(sum: BillSum | undefined, { tabId, at, usage }: BillEntry): BillSum {
  const attained = attainedOf(usage);
  const startedAt = usage.startedAt ?? at;
  return {
    tabId,
    model: usage.model,
    purpose: purposeOf(usage),
    requests: (sum?.requests ?? 0) + 1,
    untold: (sum?.untold ?? 0) + (isUntold(usage) ? 1 : 0),
    fresh: (sum?.fresh ?? 0) + (usage.fresh ?? 0),
    read: (sum?.read ?? 0) + (usage.read ?? 0),
    write5m: (sum?.write5m ?? 0) + (usage.write5m ?? 0),
    write1h: (sum?.write1h ?? 0) + (usage.write1h ?? 0),
    output: (sum?.output ?? 0) + (usage.output ?? 0),
    reasoning: (sum?.reasoning ?? 0) + (usage.reasoning ?? 0),
    attainable: (sum?.attainable ?? 0) + (attained === null ? 0 : (usage.attainable ?? 0)),
    attained: (sum?.attained ?? 0) + (attained ?? 0),
    price: (sum?.price ?? 0) + (usage.price ?? 0),
    unpriced: (sum?.unpriced ?? 0) + (usage.price === null ? 1 : 0),
    startedAt: Math.min(sum?.startedAt ?? startedAt, startedAt),
  };
}

/** What entries must share to be in one sum. */
export const billKey = ({ tabId, usage }: Pick<BillEntry, "tabId" | "usage">): string =>
  JSON.stringify([tabId, usage.model, purposeOf(usage)]);

/** Sums by tab, model and purpose, in ascending order of the three. */
export function billSumsOf(entries: readonly BillEntry[]): readonly BillSum[] {
  const groups = new Map<string, BillSum>();
  for (const entry of entries) groups.set(billKey(entry), addedBill(groups.get(billKey(entry)), entry));
  return [...groups.values()].sort(
    (a, b) => compared(a.tabId, b.tabId) || compared(a.model, b.model) || compared(a.purpose, b.purpose),
  );
}

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function billMatches(entry: BillEntry, query: BillQuery): boolean {
  return (
    isOf(entry, query) &&
    (query.from === undefined || entry.at >= query.from) &&
    (query.to === undefined || entry.at < query.to) &&
    (query.before === undefined || entry.seq < query.before)
  );
}

function isOf(entry: BillEntry, { tabId, turnId, logId }: BillQuery): boolean {
  if (turnId !== undefined) return entry.tabId === tabId && entry.turnId === turnId;
  if (logId !== undefined) return entry.logId === logId;
  return tabId === undefined || entry.tabId === tabId;
}
