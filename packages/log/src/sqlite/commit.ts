/** The one place where rows are inserted. Everything here runs inside one transaction that `commitBatch` opens. */
import type { ChunkId, Fault, NewRow, StoredRow } from "@varve/protocol";
import { assert, isFault } from "@varve/protocol";
import { applyInboxWrite } from "../inbox-rule.ts";
import type { Batch, CommitOutcome, Fence, InboxRecord, InboxWrite, TabEntry } from "../log.ts";
import { idTaken } from "../refusals.ts";
import { callIdOf, dataText, messageText, type RowFrame, rowOf } from "../row-text.ts";
import type { Segment } from "../segments.ts";
import { plainText } from "../well-formed.ts";
import { messageIn, number, tabIn } from "./decode.ts";
import { resultProblem } from "./result-check.ts";
import type { Store } from "./store.ts";
import { saveTabChange } from "./tabs.ts";
import { kept, type Outcome, undone } from "./transaction.ts";

type Refusal = Extract<CommitOutcome, { kind: "refused" }>;
const refusal = (fault: Fault, current?: InboxRecord): Refusal =>
  current === undefined ? { kind: "refused", fault } : { kind: "refused", fault, current };

export function commitBatch(store: Store, fence: Fence, batch: Batch): CommitOutcome {
  // Texts are made before the transaction begins: it stays short, and a value that is no JSON fails before it.
  const texts = batch.rows.map(dataText);
  const outcome = store.transactions.write(() => writeBatch(store, fence, { batch, texts }));
  return isFault(outcome) ? { kind: "failed", fault: outcome } : outcome;
}

interface Work {
  readonly batch: Batch;
  readonly texts: readonly string[];
}

function writeBatch(store: Store, fence: Fence, { batch, texts }: Work): Outcome<CommitOutcome> {
  const reserved = store.sql.reserve.get(batch.rows.length, fence.tabId, fence.term, fence.logId);
  if (reserved === undefined) return undone({ kind: "fenced" });
  const tab = tabIn(reserved);
  const writer = new BatchWriter(store, tab, batch);
  const problem = writer.insertRows(texts) ?? writer.writeInbox();
  if (problem !== null) return undone(problem);
  if (batch.tab !== undefined) saveTabChange(store, tab, batch.tab);
  return kept({ kind: "committed", rows: writer.rows, tail: tab.tail, inbox: writer.touched() });
}

class BatchWriter {
  readonly rows: StoredRow[] = [];
  readonly #store: Store;
  readonly #tab: TabEntry;
  readonly #inbox: readonly InboxWrite[];
  readonly #newRows: readonly NewRow[];
  readonly #segments: readonly Segment[];

  constructor(store: Store, tab: TabEntry, batch: Batch) {
    this.#store = store;
    this.#tab = tab;
    this.#inbox = batch.inbox ?? [];
    this.#newRows = batch.rows;
    const segments = store.segmentsOf(tab.logId);
    assert(segments !== null, `the tab ${tab.id} points to a log that is not there`);
    this.#segments = segments;
  }

  insertRows(texts: readonly string[]): Refusal | null {
    const first = this.#tab.tail - this.#newRows.length + 1;
    for (const [at, row] of this.#newRows.entries()) {
      const problem = this.#insertRow(row, texts[at] ?? "", first + at);
      if (problem !== null) return problem;
    }
    return null;
  }

  writeInbox(): Refusal | null {
    for (const write of this.#inbox) {
      const step = applyInboxWrite(write, this.#view(write));
      if (step.kind === "refused") return refusal(step.fault, step.current);
      this.#put(step.record);
    }
    return null;
  }

  touched(): readonly InboxRecord[] {
    return this.#inbox.flatMap((write) => this.#message(write.id) ?? []);
  }

  #insertRow(row: NewRow, text: string, seq: number): Refusal | null {
    const taken = this.#idProblem(row);
    if (taken !== null) return taken;
    const callId = callIdOf(row);
    const call = callId === null ? null : plainText(callId);
    if (row.type === "tool_result" && call !== null) {
      const problem = resultProblem(this.#store, { segments: this.#segments, callId: call, seq });
      if (problem !== null) return refusal(problem);
    }
    const by = row.by === undefined ? {} : { by: plainText(row.by) };
    // The frame of a row is the row without its data; the union of row types is lost in the spread.
    const frame = { ...row, ...by, seq, term: this.#tab.term } as RowFrame;
    const { id, turnId, step, role, type, createdAt } = row;
    const place = [this.#tab.logId, seq, id, frame.term] as const;
    this.#store.sql.insertChunk.run(...place, turnId, step, role, type, text, createdAt, frame.by, call);
    this.rows.push(rowOf(frame, text));
    return null;
  }

  /** An id stands once in a log, counting what it shares, and no user row takes the id of another tab's message. */
  #idProblem(row: NewRow): Refusal | null {
    if (row.role === "user") {
      const message = this.#message(row.id);
      if (message !== null && message.tabId !== this.#tab.id) return refusal(idTaken(row.id));
      const settled = message === null || this.#inbox.some((write) => write.id === row.id);
      if (this.#isRow(row.id)) return refusal(idTaken(row.id), message ?? undefined);
      assert(settled, `the row ${row.id} is sealed, yet its message would go on waiting`);
      return null;
    }
    return this.#isRow(row.id) ? refusal(idTaken(row.id)) : null;
  }

  #isRow(id: ChunkId): boolean {
    return this.#segments.some(({ source, lo, hi }) => {
      const found = this.#store.sql.seqOfId.get(source, id);
      return found !== undefined && number(found, "seq") >= lo && number(found, "seq") <= hi;
    });
  }

  #view(write: InboxWrite) {
    const { sql } = this.#store;
    const sealed = this.rows.find((row) => row.id === write.id);
    const last = sql.lastPosition.get(this.#tab.id)?.position;
    return {
      tabId: this.#tab.id,
      current: this.#message(write.id),
      place: sealed === undefined ? null : { logId: this.#tab.logId, seq: sealed.seq },
      isRow: sealed === undefined && write.write === "accept" && this.#isRow(write.id),
      waiting: Number(sql.countWaiting.get(this.#tab.id)?.waiting ?? 0),
      lastPosition: Number(last ?? 0),
    };
  }

  #message(id: ChunkId): InboxRecord | null {
    const row = this.#store.sql.message.get(id);
    return row === undefined ? null : messageIn(row);
  }

  #put(record: InboxRecord): void {
    const { id, tabId, position, version, state, delivery, data, by, at, sealed } = record;
    const place = [sealed?.logId ?? null, sealed?.seq ?? null] as const;
    const content = [delivery, messageText(data), by, at] as const;
    this.#store.sql.putMessage.run(id, tabId, position, version, state, ...content, ...place);
  }
}
