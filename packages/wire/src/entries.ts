/**
 * Rows into entries, in the order in which they stand on the wire. One row is one part for ever, and an entry's place
 * is fixed by its first row:
 *
 *     rows     U1  T(0)  U2  C(0)  R(0)  |  C(1) ...
 *     entries  U1  step 0 [T C -> R]  U2 |  step 1 ...
 *
 * A step is closed by the first row of a later step or turn. From then on nothing may join it: a request that holds it
 * may have been sent. What comes too late is left out and reported.
 */
import { type StoredRow, unreachable } from "@varve/protocol";
import type { Alarm, AlarmCode } from "./alarm.ts";
import type { Profile } from "./profile.ts";
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
  closed: boolean;
}
export type Entry =
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "user"; readonly row: TextRow }
  | { readonly kind: "note"; readonly text: string; readonly seq: number }
  | StepEntry;

/** Where a request was made: `entries` of the list stood before it. */
export interface RequestMark {
  readonly entries: number;
  readonly scopeHash: string;
  readonly turnId: string;
  readonly step: number;
}

export interface Entries {
  readonly entries: readonly Entry[];
  readonly requests: readonly RequestMark[];
  /** `step:turnId` of every step that produced at least one assistant row, voided ones too. */
  readonly answered: ReadonlySet<string>;
  readonly alarms: Alarm[];
}

export function entriesOf(rows: readonly StoredRow[], view: View, profile: Profile): Entries {
  const builder = new EntryBuilder(view, profile);
  for (const row of rows) builder.add(row);
  return builder;
}

class EntryBuilder implements Entries {
  readonly entries: Entry[] = [];
  readonly requests: RequestMark[] = [];
  readonly answered = new Set<string>();
  readonly alarms: Alarm[] = [];
  readonly #view: View;
  readonly #profile: Profile;
  readonly #keepFrom: number;
  readonly #kept: ReadonlySet<number>;
  readonly #seenTurns = new Set<string>();
  readonly #idUses = new Map<string, number>();
  readonly #unanswered = new Set<string>();
  #openCalls: Call[] = [];
  #turnId: string | null = null;
  #step = 0;
  #open: StepEntry | null = null;

  constructor(view: View, profile: Profile) {
    this.#view = view;
    this.#profile = profile;
    this.#keepFrom = view.compaction?.keepFrom ?? 0;
    this.#kept = new Set(view.compaction?.keptUserSeqs ?? []);
    if (view.compaction !== null) this.entries.push({ kind: "summary", text: view.compaction.summary });
  }

  add(row: StoredRow): void {
    switch (row.type) {
      case "system":
        this.#addSystem(row);
        break;
      case "error":
        // One of the agent's own (role `system`) closes nothing, as in the log's rule for results.
        if (row.role === "assistant") this.#advance(row);
        break;
      case "tool_result":
        this.#addResult(row, this.#advance(row));
        break;
      case "text":
        if (row.role === "user") this.#addUser(row);
        else this.#addAssistant(row);
        break;
      case "thinking":
      case "tool_call":
        this.#addAssistant(row);
        break;
      default:
        unreachable(row);
    }
  }

  #addSystem(row: RowOf<"system">): void {
    const data = row.data;
    if (data.kind === "note") {
      if (this.#isVisible(row.seq)) this.entries.push({ kind: "note", text: data.text, seq: row.seq });
    } else if (data.kind === "request") {
      this.#advance(row);
      // A request of another epoch had another body, so no cache entry of this one ends where it ended.
      if (!this.#view.inEpoch(row.seq)) return;
      const { turnId, step } = row;
      this.requests.push({ entries: this.entries.length, scopeHash: data.scopeHash, turnId, step });
    }
  }

  #addUser(row: TextRow): void {
    this.#advance(row);
    if (this.#isVisible(row.seq)) this.entries.push({ kind: "user", row });
  }

  /** A summary takes the place of rows below `keepFrom`, but for those that it lists. */
  #isVisible(seq: number): boolean {
    return seq >= this.#keepFrom || this.#kept.has(seq);
  }

  #addAssistant(row: AssistantRow): void {
    const onTime = this.#advance(row);
    if (!onTime) {
      this.#alarm("late-row", row.seq);
      return;
    }
    const step = this.#openStep(row);
    const hidden = row.seq < this.#keepFrom;
    if (!hidden) step.rows.push(row);
    if (row.type === "tool_call") this.#addCall(row, step, hidden);
  }

  #openStep(row: AssistantRow): StepEntry {
    if (this.#open !== null) return this.#open;
    const { turnId, step } = row;
    const entry: StepEntry = { kind: "step", turnId, step, rows: [], calls: new Map(), closed: false };
    this.answered.add(`${step}:${turnId}`);
    // A voided step takes its calls and results with it, yet they are tracked, so that none counts as an orphan.
    if (!this.#view.isVoid(turnId, step)) this.entries.push(entry);
    this.#open = entry;
    return entry;
  }

  #addCall(row: RowOf<"tool_call">, step: StepEntry, hidden: boolean): void {
    const { callId } = row.data;
    const uses = this.#idUses.get(callId) ?? 0;
    this.#idUses.set(callId, uses + 1);
    // `#` is illegal in every provider's ids, so a numbered name never equals one that a provider gave.
    const wireId = this.#profile.callId(uses === 0 ? callId : `${callId}#${uses}`);
    if (uses > 0 && !this.#view.isVoid(step.turnId, step.step)) this.#alarm("renamed-call", row.seq, callId);
    const call: Call = { row, wireId, result: null };
    if (!hidden) step.calls.set(row.id, call);
    this.#openCalls.push(call);
    this.#unanswered.add(callId);
  }

  #addResult(row: ResultRow, onTime: boolean): void {
    const { callId } = row.data;
    const waiting = this.#openCalls.find((call) => call.result === null && call.row.data.callId === callId);
    if (waiting !== undefined && onTime) {
      waiting.result = row;
      this.#unanswered.delete(callId);
      return;
    }
    const isKnown = this.#idUses.has(callId);
    const code = this.#unanswered.has(callId) ? "late-result" : "duplicate-result";
    this.#alarm(isKnown ? code : "orphan-result", row.seq, callId);
  }

  /** Closes what a row of a later step or turn closes. False when the row itself belongs to a step already closed. */
  #advance(row: StoredRow): boolean {
    if (row.turnId === "" && (row.role === "user" || row.role === "system")) return true;
    if (row.turnId === this.#turnId) {
      if (row.step === this.#step) return true;
      if (row.step < this.#step) return false;
    } else if (this.#seenTurns.has(row.turnId)) return false;
    if (this.#open !== null) this.#open.closed = true;
    this.#open = null;
    this.#openCalls = [];
    this.#turnId = row.turnId;
    this.#seenTurns.add(row.turnId);
    this.#step = row.step;
    return true;
  }

  #alarm(code: AlarmCode, seq: number, callId?: string): void {
    this.alarms.push(callId === undefined ? { code, seq } : { code, seq, callId });
  }
}
