/**
 * The rows of one segment into entries, in the order in which they stand on the wire. One row is one part for ever, and
 * an entry's place is fixed by its first row:
 *
 *     rows     U1  T(0)  U2  C(0)  R(0)
 *     entries  U1  step 0 [T C -> R]  U2
 *
 * A segment holds one step at most. What comes too late for its own is left out and reported.
 */
import { type StoredRow, unreachable } from "@varve/protocol";
import type { Alarm, AlarmCode } from "./alarm.ts";
import type { CallIds } from "./call-ids.ts";
import type { Profile } from "./profile.ts";
import { isLink, type SegmentRow } from "./segment.ts";
import type { View } from "./view.ts";

type RowOf<T extends StoredRow["type"]> = Extract<StoredRow, { type: T }>;
export type TextRow = RowOf<"text">;
export type AssistantRow = TextRow | RowOf<"thinking"> | RowOf<"tool_call">;
export type ResultRow = RowOf<"tool_result">;

export interface Call {
  readonly row: RowOf<"tool_call">;
  /** Unique in this log; the same for the call and its result. */
  readonly wireId: string;
  result: ResultRow | null;
}
export interface StepEntry {
  readonly kind: "step";
  readonly turnId: string;
  readonly step: number;
  /** In seq order, which is the order in which the model opened them. */
  readonly rows: AssistantRow[];
  /** By row id of the call. */
  readonly calls: Map<string, Call>;
}
export type Entry =
  | { readonly kind: "summary"; readonly text: string; readonly seq: number }
  | { readonly kind: "user"; readonly row: TextRow }
  | { readonly kind: "note"; readonly text: string; readonly seq: number }
  | StepEntry;

/** Where a request was made: `entries` of the segment stood before it. */
export interface RequestMark {
  readonly entries: number;
  readonly scopeHash: string;
}

export interface Entries {
  readonly entries: readonly Entry[];
  readonly requests: readonly RequestMark[];
  /** Whether the step produced at least one assistant row, though it may have been voided since. */
  readonly answered: boolean;
  readonly alarms: readonly Alarm[];
}

export interface EntryContext {
  readonly view: View;
  readonly profile: Profile;
  readonly callIds: CallIds;
}

export function entriesOf(rows: readonly SegmentRow[], context: EntryContext): Entries {
  const reader = new EntryReader(context);
  for (const { row, late } of rows) reader.add(row, late);
  return reader;
}

class EntryReader implements Entries {
  readonly entries: Entry[] = [];
  readonly requests: RequestMark[] = [];
  readonly alarms: Alarm[] = [];
  readonly #context: EntryContext;
  readonly #calls: Call[] = [];
  #step: StepEntry | null = null;

  constructor(context: EntryContext) {
    this.#context = context;
  }

  get answered(): boolean {
    return this.#step !== null;
  }

  add(row: StoredRow, late: boolean): void {
    switch (row.type) {
      case "system":
        this.#addSystem(row, late);
        break;
      case "error":
        break;
      case "tool_result":
        this.#addResult(row, late);
        break;
      case "text":
        if (row.role === "assistant") this.#addAssistant(row, late);
        else if (!this.#context.view.isReplaced(row.seq)) this.entries.push({ kind: "user", row });
        break;
      case "thinking":
      case "tool_call":
        this.#addAssistant(row, late);
        break;
      default:
        unreachable(row);
    }
  }

  #addSystem(row: RowOf<"system">, late: boolean): void {
    const { view } = this.#context;
    const { data, seq } = row;
    if (data.kind === "note") {
      if (!view.isReplaced(seq)) this.entries.push({ kind: "note", text: data.text, seq });
    } else if (isLink(row) && !late && view.inEpoch(seq)) {
      // A request of another epoch had another body, so no cache entry of this one ends where it ended.
      this.requests.push({ entries: this.entries.length, scopeHash: row.data.scopeHash });
    }
  }

  #addAssistant(row: AssistantRow, late: boolean): void {
    if (late) {
      this.#alarm("late-row", row.seq);
      return;
    }
    this.#step ??= this.#openStep(row);
    this.#step.rows.push(row);
    if (row.type === "tool_call") this.#addCall(row, this.#step);
  }

  /**
   * A step that is voided, or whose first row a summary replaces, is read but not sent: its calls and results are
   * tracked, so that none counts as an orphan. The first row decides, for it alone never changes while a step grows; so
   * a call is never sent without its result, nor a step in part.
   */
  #openStep(row: AssistantRow): StepEntry {
    const { turnId, step, seq } = row;
    const { view } = this.#context;
    const entry: StepEntry = { kind: "step", turnId, step, rows: [], calls: new Map() };
    if (!view.isVoid(turnId, step) && !view.isReplaced(seq)) this.entries.push(entry);
    return entry;
  }

  #addCall(row: RowOf<"tool_call">, step: StepEntry): void {
    const { callId } = row.data;
    const { view, profile, callIds } = this.#context;
    const uses = callIds.use(callId);
    // `#` is illegal in every provider's ids, so a numbered name never equals one that a provider gave.
    const wireId = profile.callId(uses === 0 ? callId : `${callId}#${uses}`);
    if (uses > 0 && !view.isVoid(step.turnId, step.step)) this.#alarm("renamed-call", row.seq, callId);
    const call: Call = { row, wireId, result: null };
    step.calls.set(row.id, call);
    this.#calls.push(call);
  }

  #addResult(row: ResultRow, late: boolean): void {
    const { callId } = row.data;
    const { callIds } = this.#context;
    const waiting = this.#calls.find((call) => call.result === null && call.row.data.callId === callId);
    if (waiting !== undefined && !late) {
      waiting.result = row;
      callIds.answer(callId);
      return;
    }
    const { times, unanswered } = callIds.of(callId);
    const code = unanswered ? "late-result" : "duplicate-result";
    this.#alarm(times > 0 ? code : "orphan-result", row.seq, callId);
  }

  #alarm(code: AlarmCode, seq: number, callId?: string): void {
    this.alarms.push(callId === undefined ? { code, seq } : { code, seq, callId });
  }
}
