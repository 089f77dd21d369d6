import type { ChunkId, Clock, Fault, LogId, TabId } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import type {
  Batch,
  BillQuery,
  BillSumQuery,
  BlobStore,
  Fence,
  KeyEntry,
  Log,
  LogTarget,
  NewTab,
  PageQuery,
  TabChange,
} from "./log.ts";
import { readBillSums, readBills, readFormerParents, requestBefore } from "./sqlite/bills.ts";
import { fileBlobs } from "./sqlite/blobs.ts";
import { checkStore } from "./sqlite/check.ts";
import { commitBatch } from "./sqlite/commit.ts";
import { messageIn, tabIdIn } from "./sqlite/decode.ts";
import { type FileJournal, SqliteJournal } from "./sqlite/journal.ts";
import { type OpenHome, openHome } from "./sqlite/open.ts";
import { isUnfinished, readPage, readRow, readRowById } from "./sqlite/paging.ts";
import { patiently } from "./sqlite/patience.ts";
import { purgeTab } from "./sqlite/purge.ts";
import { putKey, putSetting, readKeys, readSetting, readSettings, removeKey } from "./sqlite/settings.ts";
import { Store } from "./sqlite/store.ts";
import { changeTab, claimTab, createTab, listTabs, logsOfTab, pointTab, readTab } from "./sqlite/tabs.ts";

export interface SqliteLogOptions {
  /** The folder of all state; made when it is missing. */
  readonly home: string;
  /** Stamps blobs, and times the wait for a file that another program holds; orders nothing. */
  readonly clock: Clock;
  /** A database of the ancestor to take over into a home that has none yet. Only read. */
  readonly importDb?: string | undefined;
}

/**
 * Opens `home/varve.db` and holds the home until `close`. A fault leaves everything as it was: the home cannot be used
 * (`log-unavailable`; see `isHomeHeld` for the case that another server has it), the file is damaged (`log-damaged`),
 * the disk is full (`disk-full`), or there is nothing to import (`bad-request`).
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<Log | Fault> {
  const opened = await openHome(options.home, options.importDb);
  return isFault(opened) ? opened : new SqliteLog(opened, options.clock);
}

export class SqliteLog implements Log {
  readonly engine: Log["engine"];
  readonly journal: FileJournal;
  readonly blobs: BlobStore;
  /** Its tests reach the connection through this; nobody else has a use for it. */
  readonly store: Store;
  readonly #home: OpenHome;
  readonly #clock: Clock;

  constructor(home: OpenHome, clock: Clock) {
    this.#home = home;
    this.#clock = clock;
    this.engine = { name: home.engine.name, version: home.engine.version };
    this.store = new Store(home.database);
    this.journal = new SqliteJournal(home.engine, home.paths.journal);
    this.blobs = fileBlobs(this.store, home.paths.blobs, clock);
  }

  async tabs() {
    return this.#read(() => listTabs(this.store));
  }
  async tab(id: TabId) {
    return this.#read(() => readTab(this.store, id));
  }
  async createTab(tab: NewTab, target?: LogTarget) {
    return this.#write(() => createTab(this.store, tab, target));
  }
  async changeTab(id: TabId, change: TabChange) {
    return this.#write(() => changeTab(this.store, id, change));
  }
  async claim(id: TabId, nowMs: number) {
    return this.#write(() => claimTab(this.store, id, nowMs));
  }
  async commit(fence: Fence, batch: Batch) {
    return this.#write(() => commitBatch(this.store, fence, batch));
  }
  async point(fence: Fence, target: LogTarget, nowMs: number) {
    return this.#write(() => pointTab(this.store, fence, { target, nowMs }));
  }
  async logsOf(id: TabId) {
    return this.#read(() => logsOfTab(this.store, id));
  }
  async purge(id: TabId) {
    const problem = await this.#write(() => purgeTab(this.store, id));
    if (problem === null) this.journal.clear(id);
    return problem;
  }

  async page(query: PageQuery) {
    return this.store.transactions.read(() => readPage(this.store, query));
  }
  async row(logId: LogId, seq: number) {
    return this.#read(() => readRow(this.store, logId, seq));
  }
  async rowById(logId: LogId, id: ChunkId) {
    return this.#read(() => readRowById(this.store, logId, id));
  }
  async message(id: ChunkId) {
    return this.#read(() => {
      const row = this.store.sql.message.get(id);
      return row === undefined ? null : messageIn(row);
    });
  }
  async unfinished() {
    return this.#read(() =>
      listTabs(this.store)
        .filter((tab) => isUnfinished(this.store, tab.logId))
        .map((tab) => tab.id),
    );
  }

  async tabsWithWaiting() {
    return this.#read(() => this.store.sql.tabsWithWaiting.all().map((row) => tabIdIn(row, "id")));
  }

  async billEntries(query: BillQuery) {
    return this.#read(() => readBills(this.store, query));
  }
  async billSums(query: BillSumQuery) {
    return this.#read(() => readBillSums(this.store, query));
  }
  async formerParents() {
    return this.#read(() => readFormerParents(this.store));
  }
  async requestBefore(logId: LogId, seq: number) {
    return this.#read(() => requestBefore(this.store, logId, seq));
  }

  async setting(key: string) {
    return this.#read(() => readSetting(this.store, key));
  }
  async settings() {
    return this.#read(() => readSettings(this.store));
  }
  async putSetting(key: string, value: string | null) {
    return this.#write(() => putSetting(this.store, key, value));
  }
  async keys() {
    return this.#read(() => readKeys(this.store));
  }
  async putKey(entry: KeyEntry) {
    return this.#write(() => putKey(this.store, entry));
  }
  async removeKey(keyId: string) {
    return this.#write(() => removeKey(this.store, keyId));
  }

  check(): Promise<Fault | null> {
    return checkStore(this.store);
  }
  async close() {
    this.store.transactions.end(this.#home.database);
    this.journal.close();
    this.#home.lock.close();
  }

  #write<T>(attempt: () => T): Promise<T> {
    return patiently(this.#clock, attempt);
  }

  #read<T>(work: () => T): T {
    return this.store.transactions.readOrThrow(work);
  }
}
