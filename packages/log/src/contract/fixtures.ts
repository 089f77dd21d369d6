/** What the contract's suites write with: short names for ids, rows and batches. */
import type { ChunkId, IdMaker, JsonObject, NewRow, StoredRow, SystemData, TurnId } from "@varve/protocol";
import { assert, idMaker, isFault, noTurn, parseTurnId } from "@varve/protocol";
import type { UsageData } from "../bill-rule.ts";
import type { Batch, Claim, InboxRecord, InboxWrite, Log, LogTarget, NewTab, TabEntry } from "../log.ts";

/** A log to test, and its end. */
export interface OpenedLog extends AsyncDisposable {
  readonly log: Log;
}
export type OpenLog = () => Promise<OpenedLog>;

export const startMs = 1_700_000_000_000;

export function countingIds(): IdMaker {
  let made = 0;
  return idMaker(() => `id-${String(++made).padStart(6, "0")}`);
}
export const ids = countingIds();

export function turn(text: string): TurnId {
  const id = parseTurnId(text);
  assert(id !== null, `${text} is no turn id`);
  return id;
}

/** Where a row stands: `["t1", 0]`. Rows outside a turn: `["", 0]`. */
export type Place = readonly [turn: string, step: number];
export const outside: Place = [noTurn, 0];

const base = (place: Place, id: ChunkId) => ({ id, turnId: turn(place[0]), step: place[1], createdAt: startMs });

export const userText = (place: Place, text: string, id = ids.chunk()): NewRow => ({
  ...base(place, id),
  role: "user",
  type: "text",
  data: { text },
  by: "client-1",
});
export const said = (place: Place, text: string, id = ids.chunk()): NewRow => ({
  ...base(place, id),
  role: "assistant",
  type: "text",
  data: { text },
});
export const call = (place: Place, callId: string, args: JsonObject = {}): NewRow => ({
  ...base(place, ids.chunk()),
  role: "assistant",
  type: "tool_call",
  data: { callId, name: "bash", arguments: args, argsText: JSON.stringify(args) },
});
export const result = (place: Place, callId: string, text = "done"): NewRow => ({
  ...base(place, ids.chunk()),
  role: "tool",
  type: "tool_result",
  data: { callId, name: "bash", result: text, isError: false },
});
export const system = (place: Place, data: SystemData): NewRow => ({
  ...base(place, ids.chunk()),
  role: "system",
  type: "system",
  data,
});
export const notice = (place: Place, text = "a notice") =>
  system(place, { kind: "notice", level: "info", code: "test", text });
export const usage = (place: Place, more: Partial<UsageData> = {}) =>
  system(place, {
    kind: "usage",
    model: "demo/demo",
    fresh: 1,
    read: null,
    write5m: null,
    write1h: null,
    output: 1,
    reasoning: null,
    price: null,
    attainable: null,
    ...more,
  });
export const turnEnd = (place: Place) => system(place, { kind: "turn-end", reason: "done" });

export const accept = (
  id: ChunkId,
  state: "queued" | "held" | "sealed" = "queued",
  text = "hello",
): Extract<InboxWrite, { write: "accept" }> => ({
  write: "accept",
  id,
  state,
  delivery: "queue",
  data: { text },
  by: "client-1",
  at: startMs,
});

export const newTab = (more: Partial<NewTab> = {}): NewTab => ({
  id: ids.tab(),
  title: "A tab",
  cwd: "/somewhere",
  model: "demo/demo",
  effort: "medium",
  permissions: "ask",
  parentId: null,
  logId: ids.log(),
  createdAt: startMs,
  options: {},
  ...more,
});

/** The value, or an end of the test that shows the fault. */
export function sound<T>(value: T): Exclude<T, { readonly kind: "fault" } | null> {
  if (value === null || isFault(value)) throw new Error(`expected a value, got ${JSON.stringify(value)}`);
  // The two that were ruled out are exactly what the type leaves out.
  return value as Exclude<T, { readonly kind: "fault" } | null>;
}

export async function makeTab(log: Log, more: Partial<NewTab> = {}, target?: LogTarget): Promise<TabEntry> {
  return sound(await log.createTab(newTab(more), target));
}

/** A fresh tab and the right to write it. */
export async function claimed(log: Log, more: Partial<NewTab> = {}): Promise<Claim> {
  const tab = await makeTab(log, more);
  return sound(await log.claim(tab.id, startMs));
}

interface Sealed {
  readonly rows: readonly StoredRow[];
  readonly tail: number;
  readonly inbox: readonly InboxRecord[];
}
/** Commits what must be accepted. */
export async function sealed(log: Log, claim: Claim, batch: Partial<Batch>): Promise<Sealed> {
  const outcome = await log.commit(claim, { rows: [], ...batch });
  if (outcome.kind !== "committed") throw new Error(`expected a commit, got ${JSON.stringify(outcome)}`);
  return outcome;
}

/** The code with which a commit is refused; else how it ended. */
export async function refusalOf(log: Log, claim: Claim, batch: Partial<Batch>): Promise<string> {
  const outcome = await log.commit(claim, { rows: [], ...batch });
  return outcome.kind === "refused" || outcome.kind === "failed" ? outcome.fault.code : outcome.kind;
}

export async function allRows(log: Log, logId: Claim["logId"]): Promise<readonly StoredRow[]> {
  return sound(await log.page({ logId, after: 0, limit: 10_000 })).rows;
}
