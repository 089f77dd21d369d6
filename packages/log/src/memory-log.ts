/** The log in memory: what simulations and tests of other rooms run on. It keeps every promise but outliving its process. */
import { createHash } from "node:crypto";
import {
  assert,
  type BlobHash,
  type ChunkId,
  type Fault,
  isFault,
  type LogId,
  parseBlobHash,
  type TabId,
} from "@varve/protocol";
import { billLimit, billMatches, billSumsOf } from "./bill-rule.ts";
import { waits } from "./inbox-rule.ts";
import { JournalBlocks } from "./journal-blocks.ts";
import type {
  Batch,
  BillQuery,
  BillSumQuery,
  BlobStore,
  Claim,
  CommitOutcome,
  Fence,
  Journal,
  JournalEntry,
  KeyEntry,
  Log,
  LogTarget,
  NewTab,
  PageQuery,
  RowsPage,
  TabChange,
  TabEntry,
} from "./log.ts";
import { commitToMemory } from "./memory/commit.ts";
import { purgeFromMemory } from "./memory/purge.ts";
import { type KeptRow, MemoryState } from "./memory/state.ts";
import { pageRowsMax } from "./page-limit.ts";
import { fencedOut, tabIdTaken, unknownLog, unknownTab } from "./refusals.ts";
import { changedEntry, newEntry, nextTerm, targetOf } from "./tab-rule.ts";
import { plainText } from "./well-formed.ts";

export const memoryLog = (): Log => new MemoryLog();

class MemoryLog implements Log {
  readonly engine = { name: "memory", version: "1" };
  readonly journal = new MemoryJournal();
  readonly blobs = memoryBlobs();
  readonly #state = new MemoryState();
  readonly #settings = new Map<string, string>();
  readonly #keys = new Map<string, KeyEntry>();

  async tabs() {
    return [...this.#state.tabs.values()];
  }
  async tab(id: TabId) {
    return this.#state.tabs.get(id) ?? null;
  }

  async createTab(tab: NewTab, target: LogTarget = targetOf(tab)): Promise<TabEntry | Fault> {
    const { tabs } = this.#state;
    assert(target.logId === tab.logId, "a tab and its target name different logs");
    assert(target.kind !== "earlier", "a tab that is made has no earlier log");
    if (tabs.has(tab.id)) return tabIdTaken(tab.id);
    if (tab.parentId !== null && !tabs.has(tab.parentId)) return unknownTab(tab.parentId);
    const place = this.#state.makeLog(target, tab.id, tab.createdAt);
    if (isFault(place)) return place;
    const entry = newEntry(tab, place);
    tabs.set(tab.id, entry);
    return entry;
  }

  async changeTab(id: TabId, change: TabChange): Promise<TabEntry | Fault> {
    const tab = this.#state.tabs.get(id);
    if (tab === undefined) return unknownTab(id);
    const entry = changedEntry(tab, change);
    this.#state.tabs.set(id, entry);
    return entry;
  }

  async claim(id: TabId, nowMs: number): Promise<Claim | null> {
    const before = this.#state.tabs.get(id);
    if (before === undefined) return null;
    const tab = { ...before, term: nextTerm(before.term, nowMs) };
    this.#state.tabs.set(id, tab);
    const { logId, term, tail } = tab;
    return { tabId: id, logId, term, tail, tab, waiting: this.#state.waiting(id) };
  }

  async commit(fence: Fence, batch: Batch): Promise<CommitOutcome> {
    return commitToMemory(this.#state, fence, batch);
  }

  async point(fence: Fence, target: LogTarget, nowMs: number): Promise<TabEntry | Fault> {
    const tab = this.#state.tabs.get(fence.tabId);
    if (tab === undefined || tab.logId !== fence.logId || tab.term !== fence.term) return fencedOut();
    const place =
      target.kind === "earlier"
        ? this.#state.placeOf(tab.id, target.logId)
        : this.#state.makeLog(target, tab.id, nowMs);
    if (isFault(place)) return place;
    const term = nextTerm(Math.max(tab.term, place.term), nowMs);
    const seen = Math.min(tab.seen, place.tail);
    const entry = { ...tab, logId: target.logId, tail: place.tail, term, seen };
    this.#state.tabs.set(tab.id, entry);
    return entry;
  }

  async logsOf(id: TabId) {
    const own = [...this.#state.logs.values()].filter((log) => log.owner === id);
    return own.map((log) => ({ ...log.entry, tail: this.#state.tailOf(log) }));
  }

  async purge(id: TabId) {
    const problem = purgeFromMemory(this.#state, id);
    if (problem === null) this.journal.clear(id);
    return problem;
  }

  async page(query: PageQuery): Promise<RowsPage | Fault> {
    const { before, after } = query;
    assert(before === undefined || after === undefined, "a page is asked for with both before and after");
    const log = this.#state.logs.get(query.logId);
    if (log === undefined) return unknownLog(query.logId);
    const tail = this.#state.tailOf(log);
    const limit = Math.min(Math.max(1, query.limit), pageRowsMax);
    const up = after !== undefined;
    const hi = up ? Math.min(tail, after + limit) : Math.min(tail, (before ?? Infinity) - 1);
    const lo = up ? after + 1 : Math.max(1, hi - limit + 1);
    const rows = [...this.#state.rowsBetween(log, Math.max(1, lo), hi)];
    return { rows: withinUnits(rows, up, query.bytesMax ?? Infinity), tail };
  }

  async row(logId: LogId, seq: number) {
    const log = this.#state.logs.get(logId);
    return log === undefined ? null : (this.#state.rowAt(log, seq)?.row ?? null);
  }
  async rowById(logId: LogId, id: ChunkId) {
    const log = this.#state.logs.get(logId);
    const seq = log === undefined ? null : this.#state.seqOf(log, id);
    return seq === null ? null : this.row(logId, seq);
  }
  async message(id: ChunkId) {
    return this.#state.inbox.get(id) ?? null;
  }

  async unfinished() {
    return [...this.#state.tabs.values()].filter((tab) => this.#isUnfinished(tab)).map((tab) => tab.id);
  }

  async tabsWithWaiting() {
    const waiting = new Set([...this.#state.inbox.values()].filter(waits).map((record) => record.tabId));
    return [...this.#state.tabs.keys()].filter((id) => waiting.has(id));
  }

  async billEntries(query: BillQuery) {
    const found = this.#state.bills.filter((entry) => billMatches(entry, query));
    return found.toReversed().slice(0, billLimit(query));
  }
  async billSums(query: BillSumQuery) {
    return billSumsOf(this.#state.bills.filter((entry) => billMatches(entry, query)));
  }
  async formerParents() {
    return new Map(this.#state.formerParents);
  }
  async requestBefore(logId: LogId, seq: number) {
    const isRequest = ({ row }: KeptRow) => row.type === "system" && row.data.kind === "request" && row.seq < seq;
    return this.#state.logs.get(logId)?.rows.findLast(isRequest)?.row.seq ?? null;
  }

  async setting(key: string) {
    return this.#settings.get(key) ?? null;
  }
  async settings() {
    return Object.fromEntries(this.#settings);
  }
  async putSetting(key: string, value: string | null) {
    if (value === null) this.#settings.delete(key);
    else this.#settings.set(plainText(key), plainText(value));
    return null;
  }
  async keys() {
    return [...this.#keys.values()].sort((a, b) => (a.keyId < b.keyId ? -1 : 1));
  }
  async putKey(entry: KeyEntry) {
    this.#keys.set(entry.keyId, entry);
    return null;
  }
  async removeKey(keyId: string) {
    this.#keys.delete(keyId);
    return null;
  }

  async check() {
    return null;
  }
  async close() {}

  #isUnfinished(tab: TabEntry): boolean {
    const log = this.#state.logs.get(tab.logId);
    let turn: string | null = null;
    for (let seq = tab.tail; seq > 0 && log !== undefined; seq--) {
      const row = this.#state.rowAt(log, seq)?.row;
      if (row === undefined || row.turnId === "") continue;
      turn ??= row.turnId;
      if (row.turnId !== turn) return true;
      if (row.type === "system" && row.data.kind === "turn-end") return false;
    }
    return turn !== null;
  }
}

/** The rows that fit, counted from the end that was asked for; one at least. */
function withinUnits(rows: readonly KeptRow[], up: boolean, unitsMax: number) {
  const ordered = up ? rows : rows.toReversed();
  let units = 0;
  const past = ordered.findIndex((kept, at) => {
    units += kept.units;
    return at > 0 && units > unitsMax;
  });
  const fitting = past === -1 ? ordered : ordered.slice(0, past);
  return (up ? fitting : fitting.toReversed()).map(({ row }) => row);
}

class MemoryJournal implements Journal {
  readonly #blocks = new JournalBlocks();
  write(entries: readonly JournalEntry[]): void {
    for (const entry of entries) this.#blocks.apply(entry);
  }
  blocksOf(tabId: TabId) {
    return this.#blocks.blocksOf(tabId);
  }
  tabsWithBlocks() {
    return this.#blocks.tabsWithBlocks();
  }
  clear(tabId: TabId): void {
    this.#blocks.clear(tabId);
  }
  faults(): number {
    return 0;
  }
}

function memoryBlobs(): BlobStore {
  const kept = new Map<BlobHash, { readonly bytes: Uint8Array; readonly mediaType: string }>();
  return {
    put: async (bytes, mediaType) => {
      const blob = parseBlobHash(createHash("sha256").update(bytes).digest("hex"));
      assert(blob !== null, "a SHA-256 is a legal blob name");
      const first = kept.get(blob) ?? { bytes: bytes.slice(), mediaType: plainText(mediaType) };
      kept.set(blob, first);
      return { blob, mediaType: first.mediaType, size: bytes.byteLength };
    },
    get: async (blob) => kept.get(blob) ?? null,
  };
}
