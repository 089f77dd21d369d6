/** A batch against the memory log: everything is decided on a copy first, so that a refusal leaves nothing behind. */
import type { ChunkId, Fault, NewRow } from "@varve/protocol";
import { assert } from "@varve/protocol";
import { billEntryOf } from "../bill-rule.ts";
import { applyInboxWrite, type InboxView } from "../inbox-rule.ts";
import type { Batch, CommitOutcome, Fence, InboxRecord, InboxWrite, TabEntry } from "../log.ts";
import { idTaken, lateResult, secondResult } from "../refusals.ts";
import { closesCall } from "../result-rule.ts";
import { callIdOf, dataText, type RowFrame, rowOf, rowUnits } from "../row-text.ts";
import { changedEntry } from "../tab-rule.ts";
import { plainText } from "../well-formed.ts";
import type { KeptRow, MemoryRows, MemoryState } from "./state.ts";

type Refusal = Extract<CommitOutcome, { kind: "refused" }>;
const refusal = (fault: Fault, current?: InboxRecord): Refusal =>
  current === undefined ? { kind: "refused", fault } : { kind: "refused", fault, current };

export function commitToMemory(state: MemoryState, fence: Fence, batch: Batch): CommitOutcome {
  const texts = batch.rows.map(dataText);
  const tab = state.tabs.get(fence.tabId);
  if (tab === undefined || tab.term !== fence.term || tab.logId !== fence.logId) return { kind: "fenced" };
  const log = state.logs.get(tab.logId);
  assert(log !== undefined, `the tab ${tab.id} points to a log that is not there`);
  const draft = new Draft(state, { tab, log }, batch);
  const problem = draft.insertRows(texts) ?? draft.writeInbox();
  if (problem !== null) return problem;
  draft.keep();
  return { kind: "committed", rows: draft.rows.map(({ row }) => row), tail: state.tailOf(log), inbox: draft.touched() };
}

class Draft {
  readonly rows: KeptRow[] = [];
  readonly #state: MemoryState;
  readonly #tab: TabEntry;
  readonly #log: MemoryRows;
  readonly #batch: Batch;
  readonly #inbox: readonly InboxWrite[];
  readonly #records = new Map<ChunkId, InboxRecord>();

  constructor(state: MemoryState, at: { readonly tab: TabEntry; readonly log: MemoryRows }, batch: Batch) {
    this.#state = state;
    this.#tab = at.tab;
    this.#log = at.log;
    this.#batch = batch;
    this.#inbox = batch.inbox ?? [];
  }

  insertRows(texts: readonly string[]): Refusal | null {
    for (const [at, row] of this.#batch.rows.entries()) {
      const problem = this.#idProblem(row) ?? this.#resultProblem(row);
      if (problem !== null) return problem;
      const by = row.by === undefined ? {} : { by: plainText(row.by) };
      // The frame of a row is the row without its data; the union of row types is lost in the spread.
      const frame = { ...row, ...by, seq: this.#tab.tail + at + 1, term: this.#tab.term } as RowFrame;
      const text = texts[at] ?? "";
      this.rows.push({ row: rowOf(frame, text), units: rowUnits(frame, text) });
    }
    return null;
  }

  writeInbox(): Refusal | null {
    for (const write of this.#inbox) {
      const step = applyInboxWrite(write, this.#view(write));
      if (step.kind === "refused") return refusal(step.fault, step.current);
      this.#records.set(step.record.id, step.record);
    }
    return null;
  }

  touched(): readonly InboxRecord[] {
    return this.#inbox.flatMap((write) => this.#message(write.id) ?? []);
  }

  keep(): void {
    for (const kept of this.rows) {
      this.#log.rows.push(kept);
      this.#log.seqs.set(kept.row.id, kept.row.seq);
      const bill = billEntryOf({ tabId: this.#tab.id, logId: this.#tab.logId }, kept.row);
      if (bill !== null) this.#state.bills.push(bill);
    }
    for (const [id, record] of this.#records) this.#state.inbox.set(id, record);
    const tab = { ...this.#tab, tail: this.#tab.tail + this.rows.length };
    this.#state.tabs.set(tab.id, this.#batch.tab === undefined ? tab : changedEntry(tab, this.#batch.tab));
  }

  #idProblem(row: NewRow): Refusal | null {
    const message = row.role === "user" ? this.#message(row.id) : null;
    if (message !== null && message.tabId !== this.#tab.id) return refusal(idTaken(row.id));
    if (this.#isRow(row.id)) return refusal(idTaken(row.id), message ?? undefined);
    const settled = message === null || this.#inbox.some((write) => write.id === row.id);
    assert(settled, `the row ${row.id} is sealed, yet its message would go on waiting`);
    return null;
  }

  #isRow(id: ChunkId): boolean {
    return this.rows.some(({ row }) => row.id === id) || this.#state.seqOf(this.#log, id) !== null;
  }

  #resultProblem(row: NewRow): Refusal | null {
    if (row.type !== "tool_result") return null;
    const callId = plainText(row.data.callId);
    const behind: NewRow[] = [];
    for (const earlier of this.#rowsBackwards()) {
      const own = callIdOf(earlier);
      if (own === null || plainText(own) !== callId) {
        behind.push(earlier);
        continue;
      }
      if (earlier.type === "tool_result") return refusal(secondResult(callId));
      const call = { seq: 0, turnId: earlier.turnId, step: earlier.step };
      return behind.some((later) => closesCall(later, call)) ? refusal(lateResult(callId)) : null;
    }
    return null;
  }

  *#rowsBackwards(): Iterable<NewRow> {
    for (const { row } of this.rows.toReversed()) yield row;
    for (let seq = this.#tab.tail; seq > 0; seq--) {
      const kept = this.#state.rowAt(this.#log, seq);
      if (kept !== null) yield kept.row;
    }
  }

  #view(write: InboxWrite): InboxView {
    const sealed = this.rows.find(({ row }) => row.id === write.id);
    const records = new Map([...this.#state.inbox, ...this.#records]);
    const own = [...records.values()].filter((record) => record.tabId === this.#tab.id);
    return {
      tabId: this.#tab.id,
      current: this.#message(write.id),
      place: sealed === undefined ? null : { logId: this.#tab.logId, seq: sealed.row.seq },
      isRow: sealed === undefined && this.#isRow(write.id),
      waiting: own.filter((record) => record.state === "queued" || record.state === "held").length,
      lastPosition: own.reduce((last, record) => Math.max(last, record.position), 0),
    };
  }

  #message(id: ChunkId): InboxRecord | null {
    return this.#records.get(id) ?? this.#state.inbox.get(id) ?? null;
  }
}
