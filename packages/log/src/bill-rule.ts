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

type Figures = Omit<BillSum, "tabId" | "model" | "purpose">;
const nothing: Figures = {
  requests: 0,
  untold: 0,
  fresh: 0,
  read: 0,
  write5m: 0,
  write1h: 0,
  output: 0,
  reasoning: 0,
  attainable: 0,
  attained: 0,
  price: 0,
  unpriced: 0,
};

function added(sum: Figures, usage: UsageData): Figures {
  const attained = attainedOf(usage);
  return {
    requests: sum.requests + 1,
    untold: sum.untold + (isUntold(usage) ? 1 : 0),
    fresh: sum.fresh + (usage.fresh ?? 0),
    read: sum.read + (usage.read ?? 0),
    write5m: sum.write5m + (usage.write5m ?? 0),
    write1h: sum.write1h + (usage.write1h ?? 0),
    output: sum.output + (usage.output ?? 0),
    reasoning: sum.reasoning + (usage.reasoning ?? 0),
    attainable: sum.attainable + (attained === null ? 0 : (usage.attainable ?? 0)),
    attained: sum.attained + (attained ?? 0),
    price: sum.price + (usage.price ?? 0),
    unpriced: sum.unpriced + (usage.price === null ? 1 : 0),
  };
}

/** Sums by tab, model and purpose, in ascending order of the three. */
export function billSumsOf(entries: readonly BillEntry[]): readonly BillSum[] {
  const groups = new Map<string, BillSum>();
  for (const { tabId, usage } of entries) {
    const purpose = purposeOf(usage);
    const key = JSON.stringify([tabId, usage.model, purpose]);
    const sum = groups.get(key) ?? { tabId, model: usage.model, purpose, ...nothing };
    groups.set(key, { ...sum, ...added(sum, usage) });
  }
  return [...groups.values()].sort(
    (a, b) => compared(a.tabId, b.tabId) || compared(a.model, b.model) || compared(a.purpose, b.purpose),
  );
}

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function billMatches(entry: BillEntry, query: BillQuery): boolean {
  return (
    (query.tabId === undefined || entry.tabId === query.tabId) &&
    (query.logId === undefined || entry.logId === query.logId) &&
    (query.from === undefined || entry.at >= query.from) &&
    (query.to === undefined || entry.at < query.to) &&
    (query.before === undefined || entry.seq < query.before)
  );
}
