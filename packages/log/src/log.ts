/**
 * CONTRACT. The log port: what survives a crash. Memory, SQLite and (later) Postgres implement it, and pass `contract.ts`.
 *
 * A caller may rely on: rows are dense by seq within a log (a child log goes on from its fork point); a batch is all or
 * nothing; an answer `committed` means durable; seq and term are given in the statement that inserts; rows are never
 * updated or deleted but by `purge`.
 * An implementation must never: order anything by an id or a clock, change the JSON text of a row, throw for a fault of
 * the world (it answers with a `Fault`), or clear a caller's batch before COMMIT returned.
 * The port is asynchronous; one `commit` in flight per tab.
 */
import type {
  BlobHash,
  ChunkId,
  Delivery,
  Fault,
  JsonObject,
  LogId,
  NewRow,
  RequestPurpose,
  StoredRow,
  SystemData,
  TabId,
  TextData,
  TurnId,
} from "@varve/protocol";

/** A tab as the log keeps it. What a server derives (state, waits, queue length) is not here. */
export interface TabEntry {
  readonly id: TabId;
  readonly title: string;
  readonly cwd: string;
  readonly model: string;
  readonly effort: string;
  readonly permissions: string;
  readonly parentId: TabId | null;
  readonly logId: LogId;
  /** Highest seq of the log it points to; 0 when empty. */
  readonly tail: number;
  /** Highest term ever given for it. */
  readonly term: number;
  readonly seen: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly trashedAt: number | null;
  /** As JSON; the log does not look inside. */
  readonly options: JsonObject;
}
export type NewTab = Pick<
  TabEntry,
  "id" | "title" | "cwd" | "model" | "effort" | "permissions" | "parentId" | "logId" | "createdAt" | "options"
>;
export type TabChange = Partial<
  Pick<TabEntry, "title" | "cwd" | "model" | "effort" | "permissions" | "seen" | "updatedAt" | "trashedAt" | "options">
>;

/** The right to write: given by `claim`, void as soon as somebody else claims or the tab points to another log. */
export interface Fence {
  readonly tabId: TabId;
  readonly logId: LogId;
  readonly term: number;
}
export interface Claim extends Fence {
  readonly tail: number;
  readonly tab: TabEntry;
  /** Waiting messages (queued and held) in queue order. */
  readonly waiting: readonly InboxRecord[];
}

export interface InboxRecord {
  readonly id: ChunkId;
  readonly tabId: TabId;
  /** Queue order; a real number, so that a move needs one write. */
  readonly position: number;
  readonly version: number;
  readonly state: "queued" | "held" | "sealed" | "dropped";
  readonly delivery: Delivery;
  readonly data: TextData;
  readonly by: string;
  readonly at: number;
  /** Where it stands once sealed. */
  readonly sealed: { readonly logId: LogId; readonly seq: number } | null;
}

/** What a batch does to the inbox. Applied in order, in the batch's transaction. */
export type InboxWrite =
  /** A new message; its position is behind all others. With state `sealed` the batch also holds the row of that id. */
  | {
      readonly write: "accept";
      readonly id: ChunkId;
      readonly state: "queued" | "held" | "sealed";
      readonly delivery: Delivery;
      readonly data: TextData;
      readonly by: string;
      readonly at: number;
    }
  /** Raises `version` by one. Refused with `stale-version` unless the stored version is `version` and it still waits. */
  | {
      readonly write: "change";
      readonly id: ChunkId;
      readonly version: number;
      readonly data?: TextData;
      readonly delivery?: Delivery;
      readonly state?: "queued" | "held";
      readonly position?: number;
    }
  /** Queue -> chunk: the batch also holds the row of that id. Refused with `unknown-message` if it does not wait. */
  | { readonly write: "seal"; readonly id: ChunkId }
  | { readonly write: "drop"; readonly id: ChunkId };

export interface Batch {
  /** Sealed in this order, with consecutive seqs. */
  readonly rows: readonly NewRow[];
  readonly inbox?: readonly InboxWrite[];
  readonly tab?: TabChange;
}

export type CommitOutcome =
  | {
      readonly kind: "committed";
      readonly rows: readonly StoredRow[];
      readonly tail: number;
      /** The records that the batch's inbox writes touched, as they are now, in the order of the writes. */
      readonly inbox: readonly InboxRecord[];
    }
  /** Somebody else owns the tab, or it points elsewhere: nothing was written; stop at once. */
  | { readonly kind: "fenced" }
  /**
   * The batch breaks a rule; nothing was written. Codes: `id-taken` (the id is a row, or a message of another tab),
   * `result-already-sealed` (a second result of a call, or one that comes after a row of a later step or turn),
   * `stale-version`, `unknown-message`, `queue-full`. `current` is the stored record where there is one; a repeated
   * `accept` of an id of this tab is answered by `id-taken` with it.
   */
  | { readonly kind: "refused"; readonly fault: Fault; readonly current?: InboxRecord }
  /** The world failed (disk full, busy, damaged); nothing was written, the same batch may be tried again. */
  | { readonly kind: "failed"; readonly fault: Fault };

export interface PageQuery {
  readonly logId: LogId;
  /** Rows with seq < before, the newest of them; exclusive with `after`. Neither: the newest rows. */
  readonly before?: number;
  /** Rows with seq > after, the oldest of them. */
  readonly after?: number;
  readonly limit: number;
  /** Stops before the row whose JSON would pass this many UTF-16 units, yet holds at least one row. */
  readonly bytesMax?: number;
}
/** Rows ascend. `lo`/`hi` are 0 when empty. */
export interface RowsPage {
  readonly rows: readonly StoredRow[];
  readonly tail: number;
}

export interface LogEntry {
  readonly id: LogId;
  readonly parentId: LogId | null;
  /** Rows up to here are the parent's. 0 without a parent. */
  readonly parentSeq: number;
  readonly tail: number;
  readonly createdAt: number;
}

/** Where a tab shall point: a fresh log, a child of one at a seq, or an earlier log of its own. */
export type LogTarget =
  | { readonly kind: "fresh"; readonly logId: LogId }
  | { readonly kind: "child"; readonly logId: LogId; readonly parentId: LogId; readonly parentSeq: number }
  | { readonly kind: "earlier"; readonly logId: LogId };

/** The side file of open blocks: never the truth, only what lets recovery seal a cut block under its own id. */
export type JournalEntry =
  | {
      readonly entry: "open";
      readonly tabId: TabId;
      readonly logId: LogId;
      readonly id: ChunkId;
      /** The rest of the `chunk-open` op, as JSON (turnId, step, index, role, type, callId, at) plus what sealing needs. */
      readonly meta: JsonObject;
    }
  | {
      readonly entry: "text";
      readonly tabId: TabId;
      readonly id: ChunkId;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly entry: "closed"; readonly tabId: TabId; readonly id: ChunkId };
export interface JournaledBlock {
  readonly logId: LogId;
  readonly id: ChunkId;
  readonly meta: JsonObject;
  readonly text: string;
}
export interface Journal {
  /** Synchronous and cheap (no fsync). A fault is swallowed here and counted: the journal is a comfort, not a promise. */
  write(entries: readonly JournalEntry[]): void;
  /** Blocks opened and not closed, in opening order. */
  blocksOf(tabId: TabId): readonly JournaledBlock[];
  tabsWithBlocks(): readonly TabId[];
  clear(tabId: TabId): void;
  faults(): number;
}

export interface BlobEntry {
  readonly blob: BlobHash;
  readonly mediaType: string;
  readonly size: number;
}
/** Files named by the SHA-256 of their bytes; synced before `put` answers. */
export interface BlobStore {
  put(bytes: Uint8Array, mediaType: string): Promise<BlobEntry | Fault>;
  /** Null when there is none. */
  get(blob: BlobHash): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
}

/** An API key as it is kept. `secret` is whatever the server hands in (it encrypts before it calls). */
export interface KeyEntry {
  readonly keyId: string;
  readonly provider: string;
  readonly secret: string | null;
  readonly baseUrl: string | null;
  readonly importedAt: number;
  readonly updatedAt: number;
}

/**
 * One `usage` row as the bill keeps it. Written in the transaction that seals the row, never changed, and kept when the tab
 * is purged: money that was spent stays spent. `tabId` is the tab whose fence sealed it, so a fork does not bill its parent's.
 */
export interface BillEntry {
  readonly tabId: TabId;
  readonly logId: LogId;
  readonly seq: number;
  readonly turnId: TurnId;
  readonly step: number;
  /** The row's `createdAt`. */
  readonly at: number;
  /** Without `raw`, which the row keeps. */
  readonly usage: Extract<SystemData, { kind: "usage" }>;
}
export interface BillQuery {
  readonly tabId?: TabId;
  /** Then `tabId` says nothing: a log is of one tab. */
  readonly logId?: LogId;
  /** With `tabId`, and then `logId` says nothing. */
  readonly turnId?: TurnId;
  /** `from` inclusive, `to` exclusive, in milliseconds of `at`. */
  readonly from?: number;
  readonly to?: number;
  /** Entries with seq < before (with `logId`). */
  readonly before?: number;
  /** Newest first. Default and maximum: 500. */
  readonly limit?: number;
}
export type BillSumQuery = Pick<BillQuery, "tabId" | "turnId" | "from" | "to">;
/** Sums by tab, model and purpose; null fields of rows add nothing, `untold` and `unpriced` count them. */
export interface BillSum {
  readonly tabId: TabId;
  readonly model: string;
  readonly purpose: RequestPurpose;
  readonly requests: number;
  readonly untold: number;
  readonly fresh: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly attainable: number;
  readonly attained: number;
  readonly price: number;
  readonly unpriced: number;
  /** When the first of these requests began; where a row does not say, when it was sealed. */
  readonly startedAt: number;
}

export interface Log {
  readonly engine: { readonly name: string; readonly version: string };

  tabs(): Promise<readonly TabEntry[]>;
  tab(id: TabId): Promise<TabEntry | null>;
  /** Makes the tab and its log. `id-taken` when the id is in use. */
  createTab(tab: NewTab, target?: LogTarget): Promise<TabEntry | Fault>;
  /** Fields that need no fence (title, model, trash ...). */
  changeTab(id: TabId, change: TabChange): Promise<TabEntry | Fault>;
  /** Takes the right to write: term = max(stored + 1, nowMs). Null for an unknown tab. */
  claim(id: TabId, nowMs: number): Promise<Claim | Fault | null>;
  commit(fence: Fence, batch: Batch): Promise<CommitOutcome>;
  /** Points the tab to another log. The old fence is void; log and term of the answer are the new one. `seen` is at most its tail. */
  point(fence: Fence, target: LogTarget, nowMs: number): Promise<TabEntry | Fault>;
  /** Every log that the tab ever pointed to, oldest first. */
  logsOf(id: TabId): Promise<readonly LogEntry[]>;
  /** Removes a trashed tab and those rows that no living log reaches. */
  purge(id: TabId): Promise<Fault | null>;

  page(query: PageQuery): Promise<RowsPage | Fault>;
  row(logId: LogId, seq: number): Promise<StoredRow | null>;
  rowById(logId: LogId, id: ChunkId): Promise<StoredRow | null>;
  /** An inbox record in whatever state, also sealed and dropped ones. */
  message(id: ChunkId): Promise<InboxRecord | null>;
  /** Tabs whose log's newest turn has no `turn-end` row: what recovery looks at. */
  unfinished(): Promise<readonly TabId[]>;
  /** Tabs in which messages wait, queued or held. */
  tabsWithWaiting(): Promise<readonly TabId[]>;

  billEntries(query: BillQuery): Promise<readonly BillEntry[]>;
  billSums(query: BillSumQuery): Promise<readonly BillSum[]>;
  /**
   * Parents that purges have cut tabs off from: of the purged tabs themselves, and of their children. Whom a tab's cost counts
   * for outlives the tab, as its bill does.
   */
  formerParents(): Promise<ReadonlyMap<TabId, TabId>>;
  /** Seq of the newest `request` row below `seq` that the log itself holds (not its parent): what a bill's entry was made for. */
  requestBefore(logId: LogId, seq: number): Promise<number | null>;

  readonly journal: Journal;
  readonly blobs: BlobStore;

  setting(key: string): Promise<string | null>;
  settings(): Promise<Readonly<Record<string, string>>>;
  putSetting(key: string, value: string | null): Promise<Fault | null>;
  keys(): Promise<readonly KeyEntry[]>;
  putKey(entry: KeyEntry): Promise<Fault | null>;
  removeKey(keyId: string): Promise<Fault | null>;

  /** Runs the engine's own integrity check. Null: sound. */
  check(): Promise<Fault | null>;
  close(): Promise<void>;
}
