/** The one place where rows are inserted. Everything here runs inside one transaction that `commitBatch` opens. */
import type { ChunkId, Fault, NewRow, StoredRow, TabId } from "@varve/protocol";
import { assert, isFault } from "@varve/protocol";
import { usageOf } from "../bill-rule.ts";
import { applyInboxWrite } from "../inbox-rule.ts";
import type { Batch, CommitOutcome, Fence, InboxRecord, InboxWrite, TabChange } from "../log.ts";
import { idTaken } from "../refusals.ts";
import { callIdOf, dataText, messageText, type RowFrame, rowOf } from "../row-text.ts";
import { forkPoint, type Segment } from "../segments.ts";
import { plainText } from "../well-formed.ts";
import { insertBill } from "./bills.ts";
import { messageIn, number } from "./decode.ts";
import { resultProblem } from "./result-check.ts";
import type { Store } from "./store.ts";
import { readTab, saveTabChange } from "./tabs.ts";
import { kept, type Outcome, undone } from "./transaction.ts";

type Refusal = Extract<CommitOutcome, { kind: "refused" }>;
const refusal = (fault: Fault, current?: InboxRecord): Refusal =>
  current === undefined ? { kind: "refused", fault } : { kind: "refused", fault, current };

export function commitBatch(store: Store, fence: Fence, batch: Batch): CommitOutcome {
  // Texts are made before the transaction begins: it stays short, and a value that is no JSON fails before it.
  const texts = batch.rows.map(dataText);
  const alone = commitAlone(store, fence, { batch, texts });
  if (alone !== null) return alone;
  const outcome = store.transactions.write(() => writeBatch(store, fence, { batch, texts }));
  if (isFault(outcome)) return { kind: "failed", fault: outcome };
  if (outcome.kind === "committed") store.guessTail(fence.logId, outcome.tail);
  return outcome;
}

interface Work {
  readonly batch: Batch;
  readonly texts: readonly string[];
}

function writeBatch(store: Store, fence: Fence, { batch, texts }: Work): Outcome<CommitOutcome> {
  const found = store.sql.fencedTail.get(fence.tabId, fence.term, fence.logId);
  if (found === undefined) return undone({ kind: "fenced" });
  const segments = store.segmentsOf(fence.logId);
  assert(segments !== null, `the tab ${fence.tabId} points to a log that is not there`);
  const tail = typeof found.tail === "number" ? found.tail : forkPoint(segments);
  const writer = new BatchWriter(store, { fence, segments, tail }, batch);
  const problem = writer.insertRows(texts) ?? writer.writeInbox();
  if (problem !== null) return undone(problem);
  if (batch.tab !== undefined) changeWrittenTab(store, fence.tabId, batch.tab);
  return kept({ kind: "committed", rows: writer.rows, tail: tail + texts.length, inbox: writer.touched() });
}

function changeWrittenTab(store: Store, id: TabId, change: TabChange): void {
  const tab = readTab(store, id);
  assert(tab !== null, `the tab ${id} passed its fence and is not there`);
  saveTabChange(store, tab, change);
}

/** Nothing that is known speaks against a row; the insert sees to its id. */
interface Sound {
  readonly kind: "sound";
  readonly callId: string | null;
}

interface WritePlace {
  readonly fence: Fence;
  readonly segments: readonly Segment[];
  /** Before the batch. */
  readonly tail: number;
}

/**
 * A row that changes nothing beside itself is one statement, which is its own transaction: fence, tail and insert at once.
 * What is read before it still holds when it writes, because it writes only where the tail is as it was. Null: this is no
 * such row, or the statement did not take it; nothing was written then, and the long way finds out why.
 */
function commitAlone(store: Store, fence: Fence, { batch, texts }: Work): CommitOutcome | null {
  const [row, second] = batch.rows;
  const [text = ""] = texts;
  const tail = store.guessedTail(fence.logId);
  if (row === undefined || second !== undefined || tail === undefined || !isAlone(row, batch)) return null;
  const frame = frameOf(row, tail + 1, fence.term);
  const written = store.transactions.statement(() => {
    const segments = store.segmentsOf(fence.logId);
    if (segments === null) return false;
    const checked = new BatchWriter(store, { fence, segments, tail }, batch).check(row, frame.seq);
    return checked.kind === "sound" && insertNext(store, fence, { frame, callId: checked.callId, text }) > 0;
  });
  if (isFault(written)) return { kind: "failed", fault: written };
  if (!written) return null;
  store.guessTail(fence.logId, frame.seq);
  return { kind: "committed", rows: [rowOf(frame, text)], tail: frame.seq, inbox: [] };
}

/** Neither a message, nor a line of the bill, nor fields of the tab go with it. */
const isAlone = (row: NewRow, batch: Batch): boolean =>
  row.role !== "user" &&
  usageOf(row) === null &&
  batch.tab === undefined &&
  (batch.inbox === undefined || batch.inbox.length === 0);

interface NextRow {
  readonly frame: RowFrame;
  readonly callId: string | null;
  readonly text: string;
}

/** The number of rows written: 0 when the fence does not hold, the tail is another, or the id stands in the log. */
function insertNext({ sql }: Store, fence: Fence, { frame, callId, text }: NextRow): number {
  const { id, seq, turnId, step, role, type, createdAt, by } = frame;
  const content = [turnId, step, role, type, text, createdAt, by, callId] as const;
  return sql.insertNext.run(seq, id, ...content, fence.tabId, fence.term, fence.logId, seq - 1);
}

function frameOf(row: NewRow, seq: number, term: number): RowFrame {
  const { id, turnId, step, role, type, createdAt } = row;
  const by = row.by === undefined ? undefined : plainText(row.by);
  // Role and type come from one row; that they belong together is lost on the way.
  return { id, turnId, step, createdAt, by, seq, term, role, type } as RowFrame;
}

class BatchWriter {
  readonly rows: StoredRow[] = [];
  readonly #store: Store;
  readonly #fence: Fence;
  readonly #segments: readonly Segment[];
  readonly #tail: number;
  readonly #newRows: readonly NewRow[];
  readonly #inbox: readonly InboxWrite[];

  constructor(store: Store, place: WritePlace, batch: Batch) {
    this.#store = store;
    this.#fence = place.fence;
    this.#segments = place.segments;
    this.#tail = place.tail;
    this.#newRows = batch.rows;
    this.#inbox = batch.inbox ?? [];
  }

  insertRows(texts: readonly string[]): Refusal | null {
    for (const [at, row] of this.#newRows.entries()) {
      const problem = this.#insertRow(row, texts[at] ?? "", this.#tail + at + 1);
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

  /** Reads only. */
  check(row: NewRow, seq: number): Sound | Refusal {
    const taken = this.#idProblem(row);
    if (taken !== null) return taken;
    const found = callIdOf(row);
    const callId = found === null ? null : plainText(found);
    if (row.type === "tool_result" && callId !== null) {
      const problem = resultProblem(this.#store, { segments: this.#segments, callId, seq });
      if (problem !== null) return refusal(problem);
    }
    return { kind: "sound", callId };
  }

  #insertRow(row: NewRow, text: string, seq: number): Refusal | null {
    const checked = this.check(row, seq);
    if (checked.kind === "refused") return checked;
    const frame = frameOf(row, seq, this.#fence.term);
    const { id, turnId, step, role, type, createdAt } = row;
    const place = [this.#fence.logId, seq, id, frame.term] as const;
    const inserted = this.#store.sql.insertChunk.run(
      ...place,
      turnId,
      step,
      role,
      type,
      text,
      createdAt,
      frame.by,
      checked.callId,
    );
    if (inserted === 0) return refusal(idTaken(id), this.#ownMessage(row));
    const sealed = rowOf(frame, text);
    insertBill(this.#store, this.#fence, sealed);
    this.rows.push(sealed);
    return null;
  }

  /** No user row takes the id of another tab's message, and no row that of a shared one; the insert sees to the own. */
  #idProblem(row: NewRow): Refusal | null {
    const message = row.role === "user" ? this.#message(row.id) : null;
    if (message !== null && message.tabId !== this.#fence.tabId) return refusal(idTaken(row.id));
    if (this.#isRow(row.id, this.#segments.slice(0, -1))) return refusal(idTaken(row.id), message ?? undefined);
    if (message === null || this.#inbox.some((write) => write.id === row.id)) return null;
    assert(this.#isRow(row.id), `the row ${row.id} is sealed, yet its message would go on waiting`);
    return refusal(idTaken(row.id), message);
  }

  #ownMessage(row: NewRow): InboxRecord | undefined {
    return row.role === "user" ? (this.#message(row.id) ?? undefined) : undefined;
  }

  #isRow(id: ChunkId, segments = this.#segments): boolean {
    return segments.some(({ source, lo, hi }) => {
      const found = this.#store.sql.seqOfId.get(source, id);
      return found !== undefined && number(found, "seq") >= lo && number(found, "seq") <= hi;
    });
  }

  #view(write: InboxWrite) {
    const { sql } = this.#store;
    const sealed = this.rows.find((row) => row.id === write.id);
    const last = sql.lastPosition.get(this.#fence.tabId)?.position;
    return {
      tabId: this.#fence.tabId,
      current: this.#message(write.id),
      place: sealed === undefined ? null : { logId: this.#fence.logId, seq: sealed.seq },
      isRow: sealed === undefined && write.write === "accept" && this.#isRow(write.id),
      waiting: Number(sql.countWaiting.get(this.#fence.tabId)?.waiting ?? 0),
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
