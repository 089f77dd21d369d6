/**
 * What a compaction sums up and what it keeps. Pure.
 *
 *   rows   1 ........................ keepFrom ........ end
 *          summed up; of these stay      stays as it is: the last turns, cut where a turn or a step begins
 *          the person's own messages
 *          and the notes that hold
 *
 * The summary is asked for over the tab's own body, so that reading it costs what a cached prefix costs. Where that body does
 * not fit, it is asked for over the longest beginning that does, and nothing behind that beginning is given up.
 */
import type { Fault, StoredRow } from "@varve/protocol";
import { fault } from "@varve/protocol";
import { landmarksOf } from "../landmarks.ts";
import { instructionsTopic, toldTexts } from "../prompt/told.ts";
import { hasInk } from "../text.ts";
import { continueText } from "../texts.ts";
import { isKind, isStepRequest } from "../turn-rows.ts";
import { compactionLimits as limits } from "./limits.ts";
import { compactionInForce, measure, rowTokens, scaleOf, sumTokens } from "./measure.ts";

export type Trigger = "manual" | "auto" | "overflow";

export interface PlanInput {
  readonly rows: readonly StoredRow[];
  /** Of the model in force; null where nobody knows. */
  readonly windowTokens: number | null;
  readonly trigger: Trigger;
  /** Share of the room that the request for the summary may take: less than 1 after it did not fit. */
  readonly shrink?: number;
}

export interface Plan {
  readonly kind: "plan";
  /** The summary is asked for over a fold of these: all rows, or those up to a step boundary. */
  readonly summed: readonly StoredRow[];
  readonly keepFrom: number;
  readonly keptUserSeqs: readonly number[];
  readonly keptNoteSeqs: readonly number[];
  /** The person's messages that are not kept word for word. */
  readonly leftOutSeqs: readonly number[];
  readonly tokensBefore: number;
  /** Estimated, of everything but the summary. */
  readonly tokensKept: number;
  readonly scale: number;
}

const tooLittle = (): Fault =>
  fault(
    "nothing-to-compact",
    "There is too little behind the last turns to be summed up.",
    "Nothing was changed. Go on, or begin a new log.",
  );

export function planCompaction(input: PlanInput): Plan | Fault {
  const { rows, trigger } = input;
  const scale = scaleOf(rows);
  const tokensBefore = measure(rows, scale);
  const room = input.windowTokens ?? tokensBefore;
  const start = compactionInForce(rows)?.data.keepFrom ?? 0;
  const cuts = cutsOf(rows, start);
  const until = fittingEnd(input, { cuts, start, scale, tokensBefore });
  const keepFrom = Math.min(tailStart(rows, { cuts, scale, budget: keepBudget(room, tokensBefore) }), until);
  if (keepFrom <= start || !Number.isFinite(keepFrom)) return tooLittle();
  const kept = keptBelow(rows, { keepFrom, scale, budget: userBudget(room) });
  const tail = rowsFrom(rows, keepFrom).filter((row) => !isKind(row, "prefix"));
  const prefix = landmarksOf(rows).prefixes.at(-1);
  const tokensKept = sumTokens(prefix === undefined ? tail : [prefix, ...tail], scale) + kept.tokens;
  const keptSeqs = new Set([...kept.users, ...kept.notes]);
  const gain = sumTokens(
    rowsFrom(rows, start, keepFrom).filter((row) => !keptSeqs.has(row.seq) && !isKind(row, "prefix")),
    scale,
  );
  if (gain <= gainMin(trigger, room)) return tooLittle();
  return {
    kind: "plan",
    summed: until === Number.POSITIVE_INFINITY ? rows : rowsFrom(rows, 0, until),
    keepFrom,
    keptUserSeqs: kept.users,
    keptNoteSeqs: kept.notes,
    leftOutSeqs: kept.leftOut,
    tokensBefore,
    tokensKept,
    scale,
  };
}

/** What does not fit is summed up whatever it wins. */
function gainMin(trigger: Trigger, room: number): number {
  if (trigger === "overflow") return 0;
  return trigger === "auto" ? room * limits.gainShareMin : limits.gainTokensMin;
}

const keepBudget = (room: number, body: number): number =>
  Math.min(room * limits.keepShareMax, body * limits.keepOfBodyMax);
const userBudget = (room: number): number => Math.min(limits.userTokensMax, room * limits.userShareMax);

/** Rows with `from` <= seq < `below`. Seqs are dense, so that no other row is looked at: logs are long, and this is asked often. */
function rowsFrom(rows: readonly StoredRow[], from: number, below = Number.POSITIVE_INFINITY): readonly StoredRow[] {
  const first = rows[0]?.seq ?? 1;
  return rows.slice(Math.max(0, from - first), Math.max(0, below - first));
}

/**
 * Where the log may be cut: at the first row of a turn and at the request of each step. A step is never split, and behind each
 * cut something stands that was said or done: what stays must not be bookkeeping alone.
 */
function cutsOf(rows: readonly StoredRow[], start: number): readonly number[] {
  const last = rows.findLast(({ type }) => type !== "system" && type !== "error")?.seq ?? 0;
  const cuts = new Set<number>();
  for (const row of rowsFrom(rows, start)) {
    if (row.type !== "system") continue;
    const cut = isKind(row, "turn-end") ? row.seq + 1 : isStepRequest(row) ? row.seq : 0;
    if (cut > start && cut <= last) cuts.add(cut);
  }
  return [...cuts];
}

/** The earliest cut behind which no more than the budget stands; the newest one when even that is too much. */
function tailStart(
  rows: readonly StoredRow[],
  how: { readonly cuts: readonly number[]; readonly scale: number; readonly budget: number },
): number {
  let tokens = 0;
  let best = how.cuts.at(-1) ?? Number.POSITIVE_INFINITY;
  let next = how.cuts.length - 1;
  for (let at = rows.length - 1; at >= 0 && next >= 0; at--) {
    const row = rows[at];
    if (row === undefined) break;
    tokens += rowTokens(row, how.scale);
    if (tokens > how.budget) break;
    if (row.seq !== how.cuts[next]) continue;
    best = row.seq;
    next -= 1;
  }
  return best;
}

/** Rows below this seq fit into a request with the question behind them; infinite when all do. */
function fittingEnd(
  input: PlanInput,
  how: {
    readonly cuts: readonly number[];
    readonly start: number;
    readonly scale: number;
    readonly tokensBefore: number;
  },
): number {
  const { rows, windowTokens, trigger } = input;
  const shrink = input.shrink ?? 1;
  // A provider that refused the body knows better than the table: it did not fit, whatever the window is said to be.
  const room = trigger === "overflow" ? Math.min(windowTokens ?? how.tokensBefore, how.tokensBefore) : windowTokens;
  if (room === null && shrink === 1) return Number.POSITIVE_INFINITY;
  const budget = (room ?? how.tokensBefore) * (1 - limits.answerShare) * shrink;
  if (how.tokensBefore <= budget) return Number.POSITIVE_INFINITY;
  let tokens = how.tokensBefore;
  let best = how.cuts[0] ?? Number.POSITIVE_INFINITY;
  let next = how.cuts.length - 1;
  for (let at = rows.length - 1; at >= 0 && next >= 0; at--) {
    const row = rows[at];
    if (row === undefined) break;
    tokens -= rowTokens(row, how.scale);
    if (row.seq !== how.cuts[next]) continue;
    if (tokens <= budget) return row.seq;
    best = row.seq;
    next -= 1;
  }
  return best;
}

interface Kept {
  readonly users: readonly number[];
  readonly notes: readonly number[];
  readonly leftOut: readonly number[];
  readonly tokens: number;
}

function keptBelow(
  rows: readonly StoredRow[],
  how: { readonly keepFrom: number; readonly scale: number; readonly budget: number },
): Kept {
  const below = rowsFrom(rows, 0, how.keepFrom);
  const notes = notesThatHold(rows, how.keepFrom);
  const users: number[] = [];
  const leftOut: number[] = [];
  let left = how.budget;
  for (let at = below.length - 1; at >= 0; at--) {
    const row = below[at];
    if (row === undefined || !isOwnWord(row)) continue;
    const tokens = rowTokens(row, how.scale);
    if (tokens > left) leftOut.push(row.seq);
    else {
      users.push(row.seq);
      left -= tokens;
    }
  }
  const noteTokens = sumTokens(notes, how.scale);
  return {
    users: users.reverse(),
    notes: notes.map((row) => row.seq),
    leftOut: leftOut.reverse(),
    tokens: how.budget - left + noteTokens,
  };
}

/** What a person wrote: not the word that the agent itself puts behind a cut answer. */
function isOwnWord(row: StoredRow): boolean {
  if (row.role !== "user" || row.type !== "text") return false;
  if (row.by === undefined && row.data.text === continueText) return false;
  return hasInk(row.data.text) || (row.data.attachments?.length ?? 0) > 0;
}

/** Of each topic the newest note, where no later one stands behind the cut; of the instructions each that still holds. */
function notesThatHold(rows: readonly StoredRow[], keepFrom: number): readonly StoredRow[] {
  const told = new Set(toldTexts(rows).noteSeqs);
  const seen = new Set<string>([instructionsTopic]);
  const kept: StoredRow[] = [];
  for (const row of landmarksOf(rows).notes.toReversed()) {
    const isNewest = !seen.has(row.data.topic);
    seen.add(row.data.topic);
    if ((isNewest || told.has(row.seq)) && row.seq < keepFrom) kept.push(row);
  }
  return kept.reverse();
}
