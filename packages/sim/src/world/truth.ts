/**
 * What the disk holds, kept beside it by somebody who watches every write: the oracle that all else is compared with. It judges
 * each write when it happens: seq dense, terms never again, one terminal an id, one result a call, one end a turn, and nothing
 * that waits goes on by itself behind a turn that was cut.
 */
import type { Batch, CommitOutcome, Fence, InboxRecord, LogTarget, TabEntry } from "@varve/log";
import {
  byPosition,
  type ChunkId,
  type LogChunk,
  type LogId,
  type StoredRow,
  type TabId,
  type TurnId,
  toTravelling,
} from "@varve/protocol";
import { must } from "./violation.ts";

/** One log's own rows; those up to `parentSeq` are its parent's. */
interface TruthLog {
  readonly parentId: LogId | null;
  readonly parentSeq: number;
  readonly owner: TabId;
  readonly rows: StoredRow[];
  readonly seqs: Map<ChunkId, number>;
  readonly ends: Map<TurnId, number>;
  readonly results: Map<string, number>;
  readonly calls: Map<string, number>;
  /** The turn of its newest row of one. */
  turn: TurnId | null;
}

/** What was ever true, also of a database that was thrown away. */
export class Ever {
  /** Text of each row by its own log, seq and term: no row of that place is ever another. */
  readonly rows = new Map<string, string>();
  readonly terms = new Map<TabId, number>();
  /** Texts of messages by id and version. */
  readonly messages = new Map<string, string>();
}

export const rowText = (row: LogChunk): string => {
  const { id, seq, term, turnId, step, role, type, data, createdAt, by } = row;
  return JSON.stringify([id, seq, term, turnId, step, role, type, data, createdAt, by ?? null]);
};

export class Truth {
  readonly ever: Ever;
  readonly tabs: Map<TabId, TabEntry>;
  readonly logs: Map<LogId, TruthLog>;
  readonly inbox: Map<ChunkId, InboxRecord>;

  constructor(ever: Ever = new Ever()) {
    this.ever = ever;
    this.tabs = new Map();
    this.logs = new Map();
    this.inbox = new Map();
  }

  /** As it is now, to come back to when an older copy of the disk does. */
  copy(): Truth {
    const copy = new Truth(this.ever);
    for (const [id, tab] of this.tabs) copy.tabs.set(id, tab);
    for (const [id, record] of this.inbox) copy.inbox.set(id, record);
    for (const [id, log] of this.logs) {
      copy.logs.set(id, {
        ...log,
        rows: [...log.rows],
        seqs: new Map(log.seqs),
        ends: new Map(log.ends),
        results: new Map(log.results),
        calls: new Map(log.calls),
      });
    }
    return copy;
  }

  // --- what is asked of it -----------------------------------------------------------------------------------------

  tailOf(logId: LogId): number {
    const log = this.logs.get(logId);
    return log === undefined ? 0 : log.parentSeq + log.rows.length;
  }

  /** The log that holds this seq itself, seen from `logId`. */
  ownerOf(logId: LogId, seq: number): LogId | null {
    let at: LogId | null = logId;
    while (at !== null) {
      const log = this.logs.get(at);
      if (log === undefined) return null;
      if (seq > log.parentSeq) return at;
      at = log.parentId;
    }
    return null;
  }

  rowAt(logId: LogId, seq: number): StoredRow | undefined {
    const owner = this.ownerOf(logId, seq);
    const log = owner === null ? undefined : this.logs.get(owner);
    return log?.rows[seq - log.parentSeq - 1];
  }

  rows(logId: LogId): readonly StoredRow[] {
    const rows: StoredRow[] = [];
    for (let seq = 1; seq <= this.tailOf(logId); seq += 1) {
      const row = this.rowAt(logId, seq);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** The seq at which one of a log's maps holds a name, its parents' rows included. */
  find<K>(logId: LogId, key: K, of: (log: TruthLog) => ReadonlyMap<K, number>): number | null {
    let [at, below]: [LogId | null, number] = [logId, Number.POSITIVE_INFINITY];
    while (at !== null) {
      const log = this.logs.get(at);
      if (log === undefined) return null;
      const seq = of(log).get(key);
      if (seq !== undefined && seq <= below) return seq;
      [at, below] = [log.parentId, Math.min(below, log.parentSeq)];
    }
    return null;
  }

  waiting(tab: TabId): readonly InboxRecord[] {
    const own = [...this.inbox.values()].filter((record) => record.tabId === tab && isWaiting(record));
    return own.sort(byPosition);
  }

  // --- what the disk did -------------------------------------------------------------------------------------------

  made(tab: TabEntry, target: LogTarget | undefined): void {
    this.tabs.set(tab.id, tab);
    if (target?.kind !== "earlier") this.#makeLog(tab.id, target ?? { kind: "fresh", logId: tab.logId });
    this.#newTerm(tab.id, tab.term);
  }

  changed(tab: TabEntry): void {
    this.tabs.set(tab.id, tab);
  }

  claimed(tab: TabEntry): void {
    this.tabs.set(tab.id, tab);
    this.#newTerm(tab.id, tab.term);
  }

  pointed(tab: TabEntry, target: LogTarget): void {
    this.tabs.set(tab.id, tab);
    if (target.kind !== "earlier") this.#makeLog(tab.id, target);
    this.#newTerm(tab.id, tab.term);
  }

  committed(fence: Fence, batch: Batch, outcome: Extract<CommitOutcome, { kind: "committed" }>): void {
    const tab = this.tabs.get(fence.tabId);
    const log = this.logs.get(fence.logId);
    must(tab !== undefined && log !== undefined, "S1", () => `a commit to an unknown tab ${fence.tabId}`);
    must(tab.term === fence.term && tab.logId === fence.logId, "S1", () => `a commit with the void term ${fence.term}`);
    for (const row of outcome.rows) this.#sealed(fence, row);
    must(outcome.tail === this.tailOf(fence.logId), "dense", () => `the tail is told as ${outcome.tail}`);
    for (const record of outcome.inbox) this.#recorded(record, batch);
    this.tabs.set(tab.id, { ...tab, ...batch.tab, tail: outcome.tail });
    for (const row of outcome.rows) {
      if (row.type === "system" && row.data.kind === "turn-end") this.#ended(tab.id, row.turnId, row.data.reason);
    }
  }

  #makeLog(owner: TabId, target: Exclude<LogTarget, { kind: "earlier" }>): void {
    const child = target.kind === "child";
    this.logs.set(target.logId, {
      parentId: child ? target.parentId : null,
      parentSeq: child ? target.parentSeq : 0,
      owner,
      rows: [],
      seqs: new Map(),
      ends: new Map(),
      results: new Map(),
      calls: new Map(),
      turn: child ? this.#turnAt(target.parentId, target.parentSeq) : null,
    });
  }

  /** The turn that the newest row of one belongs to, up to a seq. */
  #turnAt(logId: LogId, upTo: number): TurnId | null {
    for (let seq = upTo; seq > 0; seq -= 1) {
      const turnId = this.rowAt(logId, seq)?.turnId;
      if (turnId !== undefined && turnId !== "") return turnId;
    }
    return null;
  }

  /** The turn that has begun in a log and not ended. */
  openTurn(logId: LogId): TurnId | null {
    const turn = this.logs.get(logId)?.turn ?? null;
    return turn === null || this.find(logId, turn, (log) => log.ends) !== null ? null : turn;
  }

  /** A term names one owner of a tab, for ever: also of a database that was restored. */
  #newTerm(tab: TabId, term: number): void {
    const highest = this.ever.terms.get(tab) ?? -1;
    must(term > highest, "terms", () => `term ${term} of ${tab} after ${highest}`);
    this.ever.terms.set(tab, term);
  }

  #sealed(fence: Fence, row: StoredRow): void {
    const { logId, term } = fence;
    const seq = this.tailOf(logId) + 1;
    must(row.seq === seq, "dense", () => `row ${row.id} has seq ${row.seq}, not ${seq}`);
    must(row.term === term, "terms", () => `row ${row.id} has term ${row.term}, its owner ${term}`);
    must(this.find(logId, row.id, (log) => log.seqs) === null, "once", () => `row ${row.id} was sealed twice`);
    const over = row.turnId !== "" && this.find(logId, row.turnId, (log) => log.ends) !== null;
    must(!over, "turn-end", () => `row ${row.id} (${row.type}) of turn ${row.turnId} stands behind its end`);
    const open = this.openTurn(logId);
    const between = open !== null && row.turnId !== "" && row.turnId !== open;
    must(!between, "turn-end", () => `turn ${row.turnId} begins while ${open} has no end`);
    const log = this.logs.get(logId);
    if (log !== undefined && row.turnId !== "") log.turn = row.turnId;
    log?.rows.push(row);
    log?.seqs.set(row.id, seq);
    if (row.type === "tool_call") log?.calls.set(row.data.callId, seq);
    if (row.type === "tool_result") {
      const earlier = this.find(logId, row.data.callId, (one) => one.results);
      must(earlier === null, "one result", () => `call ${row.data.callId} has a second result`);
      log?.results.set(row.data.callId, seq);
    }
    const isInternal = row.type === "error" && row.data.code === "internal";
    must(!isInternal, "loop", () => `a turn broke: ${row.type === "error" ? row.data.message : ""}`);
    this.ever.rows.set(`${logId}/${seq}/${term}`, rowText(toTravelling(row, fence.tabId)));
  }

  #recorded(record: InboxRecord, batch: Batch): void {
    const before = this.inbox.get(record.id);
    const fate = `${before?.state ?? "new"} -> ${record.state}`;
    must(before === undefined || isWaiting(before), "S4", () => `${record.id} changed behind its end: ${fate}`);
    // Only a release takes a message out of a hold; its consumption comes after it.
    must(fate !== "held -> sealed", "held", () => `${record.id} was sent although it is held`);
    const isRow = batch.rows.some((row) => row.id === record.id);
    must((record.state === "sealed") === isRow, "S2", () => `${record.id} is ${record.state}, its row ${isRow}`);
    this.inbox.set(record.id, record);
    this.ever.messages.set(`${record.id}/${record.version}`, record.data.text);
  }

  #ended(tab: TabId, turnId: TurnId, reason: string): void {
    const logId = this.tabs.get(tab)?.logId;
    const log = logId === undefined ? undefined : this.logs.get(logId);
    if (logId === undefined || log === undefined) return;
    must(this.find(logId, turnId, (one) => one.ends) === null, "turn-end", () => `turn ${turnId} ended twice`);
    log.ends.set(turnId, this.tailOf(logId));
    if (reason === "done") return;
    const loose = this.waiting(tab).filter((record) => record.state === "queued" && record.delivery !== "stop");
    must(
      loose.length === 0,
      "H12",
      () => `behind an end by ${reason} ${loose.map(({ id }) => id)} still wait, not held`,
    );
  }
}

const isWaiting = (record: InboxRecord): boolean => record.state === "queued" || record.state === "held";
