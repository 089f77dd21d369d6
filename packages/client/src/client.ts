/**
 * CONTRACT. What a view may know and do. Implemented by `sync-client.ts`; used by the page and by `varve tail/send`.
 *
 * A caller may rely on: a `TabSnapshot` is immutable and replaced as a whole, so identity comparison tells change; each id
 * stands in exactly one of rows, open, queue and pending; rows ascend and are dense; whatever was sent stays visible until
 * the server says sealed or dropped.
 */
import type {
  AnswerBody,
  Attachment,
  ChunkId,
  Delivery,
  ErrorBody,
  LogChunk,
  LogId,
  OpenBlock,
  QueuedMessage,
  TabId,
  TabRecord,
  TabStatus,
  TurnId,
} from "@varve/protocol";

/** Why the server said goodbye, where that tells a person something: it ends, or starts anew. */
export type AwayReason = "shutting-down";

/** `reason` stays from the goodbye until the connection is live again. */
export type ConnectionState =
  | { readonly kind: "connecting"; readonly attempt: number; readonly reason?: AwayReason }
  | { readonly kind: "live" }
  /** The next attempt comes at `retryAt` (clock of the client, ms). */
  | { readonly kind: "waiting"; readonly attempt: number; readonly retryAt: number; readonly reason?: AwayReason }
  /** The server does not want us: sign in again, or reload another build. No further attempt by itself. */
  | {
      readonly kind: "refused";
      readonly code: "unauthorized" | "version-unsupported" | "other-build";
      readonly message: string;
    }
  | { readonly kind: "closed" };

/** A message that only this client knows, or whose fate it has not heard yet. */
export interface PendingMessage {
  readonly id: ChunkId;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly delivery: Delivery;
  /** With delivery `stop`: the turn that was shown when it was written. */
  readonly turnId?: TurnId;
  readonly at: number;
  /** `waiting`: no connection, or behind another one; `sent`: on its way; `refused`: the server said no, the text is kept. */
  readonly state: "waiting" | "sent" | "refused";
  readonly error?: ErrorBody;
}

/** An open block as it is shown: all of its text so far. */
export type OpenView = Omit<OpenBlock, "offset">;

export interface LiveOutput {
  readonly callId: string;
  readonly bytes: number;
  readonly tail: string;
}

export interface TabSnapshot {
  readonly tabId: TabId;
  readonly logId: LogId | null;
  /** Sealed rows of the window, ascending by seq, dense. */
  readonly rows: readonly LogChunk[];
  readonly open: readonly OpenView[];
  /** Waiting messages in queue order, held ones included. */
  readonly queue: readonly QueuedMessage[];
  readonly pending: readonly PendingMessage[];
  readonly outputs: ReadonlyMap<string, LiveOutput>;
  readonly status: TabStatus;
  readonly window: {
    /** seq of the first and last row held, 0 when none. */
    readonly lo: number;
    readonly hi: number;
    readonly tail: number;
    /** False: newer rows exist that were evicted or never read; live seals only raise `tail` and `unread`. */
    readonly attached: boolean;
    readonly unread: number;
    readonly paging: "older" | "newer" | null;
  };
  /** False until the first head: show a loading state. */
  readonly ready: boolean;
  readonly sync: SyncCheck;
  /** Rows changed under the client (an older database was restored): own messages that may be sent again. */
  readonly lost: readonly PendingMessage[];
}

/** What came of the last comparison of the window with the server's rows. */
export interface SyncCheck {
  readonly state:
    | "unknown"
    | "checking"
    /** The same rows, byte for byte as they travel. */
    | "same"
    /** They differed; the window was read anew, and is the same now. */
    | "healed"
    /** They differ, also after the window was read anew. */
    | "different"
    /** It could not be compared: offline, or the tab moved on each time. `error` says what happened. */
    | "failed";
  /** Rows compared. */
  readonly lo: number;
  readonly hi: number;
  /** Clock of the client, ms; 0 before the first. */
  readonly at: number;
  /** Differences that this client has found in this tab since it began. */
  readonly mismatches: number;
  readonly error?: ErrorBody;
}

export interface TabHandle {
  readonly tabId: TabId;
  snapshot(): TabSnapshot;
  /** Called after each change, at most once a microtask. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  send(message: {
    readonly text: string;
    readonly delivery?: Delivery;
    readonly attachments?: readonly Attachment[];
  }): ChunkId;
  /** Puts a refused or lost message back on its way under the same id. */
  resend(id: ChunkId): void;
  /** Forgets a pending message that was never accepted. */
  forget(id: ChunkId): void;
  edit(id: ChunkId, text: string): Promise<ErrorBody | null>;
  setDelivery(id: ChunkId, delivery: Delivery): Promise<ErrorBody | null>;
  hold(id: ChunkId): Promise<ErrorBody | null>;
  release(id: ChunkId): Promise<ErrorBody | null>;
  move(id: ChunkId, before: ChunkId | null): Promise<ErrorBody | null>;
  cancel(id: ChunkId): Promise<ErrorBody | null>;
  /** Stops the open turn (the one shown now), or one call of it. */
  stop(callId?: string): Promise<ErrorBody | null>;
  /** A running call goes on as a background job, so that what waits is delivered. */
  background(callId: string): Promise<ErrorBody | null>;
  /**
   * Compares the window's rows with the server's, by digest. A difference is healed by reading the rows anew, and counted by
   * the server. Resolves with the outcome, which the snapshot shows as well; one check at a time.
   */
  checkSync(): Promise<SyncCheck>;
  answer(askId: ChunkId, answer: Omit<AnswerBody, "askId">): Promise<ErrorBody | null>;
  pageOlder(): Promise<void>;
  pageNewer(): Promise<void>;
  /** Re-attaches the window to the end. */
  toEnd(): Promise<void>;
  focus(focused: boolean): void;
  seen(seq: number): void;
  close(): void;
}

/** Whether what is typed outlives the page. */
export type OutboxState =
  | { readonly kind: "opening" }
  | { readonly kind: "kept" }
  /** The store refuses (a private window, a full disk): what is not sent yet lives in this page only. Say so. */
  | { readonly kind: "memory"; readonly message: string };

export interface SyncClient {
  connection(): ConnectionState;
  outbox(): OutboxState;
  /** The tab list as the workspace feed has it; undefined until it first came. */
  tabs(): readonly TabRecord[] | undefined;
  onChange(listener: () => void): () => void;
  open(tabId: TabId): TabHandle;
  /** Try now (wake-up, the person clicked). */
  probe(): void;
  close(): void;
}

/** The outer world of a client, passed in. Browser and Node adapters live in `adapters/`. */
export interface ClientSocket {
  send(text: string): void;
  close(): void;
}
export interface ClientPorts {
  /** Opens a socket to `/api/ws`. The handlers of an older socket are never called after `close`. */
  readonly connect: (handlers: {
    readonly opened: () => void;
    readonly frame: (text: string) => void;
    readonly closed: (code: number) => void;
  }) => ClientSocket;
  /** REST under `/api`, JSON both ways; a fault of the network is `provider-unreachable`-like: code `log-unavailable`. */
  readonly rest: (request: {
    readonly method: "GET" | "POST" | "PATCH" | "DELETE";
    readonly path: string;
    readonly body?: unknown;
  }) => Promise<{ readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly error: ErrorBody }>;
  readonly clock: import("@varve/protocol").Clock;
  readonly newId: () => ChunkId;
  /** Uniform in [0, 1): jitter only. */
  readonly random: () => number;
  readonly outbox: OutboxStore;
  /** Client id, build of the page, second key. */
  readonly identity: { readonly client: string; readonly build?: string; readonly key?: string };
}

/** Where pending messages outlive a reload (IndexedDB in the page, memory in programs). */
export interface OutboxStore {
  load(): Promise<readonly StoredOutboxEntry[]>;
  put(entry: StoredOutboxEntry): Promise<void>;
  remove(id: ChunkId): Promise<void>;
  /** Entries that come later than `load`: those of a page that has ended meanwhile. Returns the way to stop. */
  adopted?(take: (entries: readonly StoredOutboxEntry[]) => void): () => void;
}
export interface StoredOutboxEntry {
  readonly tabId: TabId;
  readonly id: ChunkId;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly delivery: Delivery;
  readonly turnId?: TurnId;
  /** When it was written; within one outbox it only grows, whatever the clock does, so it also says the order. */
  readonly at: number;
  /** The server's refusal that waits for the person's decision. */
  readonly refused?: ErrorBody;
  /** Set once the server has accepted it: kept 24 h for "send again" after a restore. */
  readonly sealedAt?: number;
  /** The log that took it, and its place there once it was sealed. */
  readonly logId?: LogId;
  readonly seq?: number;
  /** The term under which the server was last known to have it: only under another one can it have been lost. */
  readonly term?: number;
}

/** What the page shows as one unit: derived from rows and open blocks, never stored. */
export interface RowGroup {
  readonly key: string;
  readonly kind: "user" | "assistant" | "event";
  readonly turnId: TurnId;
  readonly step: number;
  readonly items: readonly GroupItem[];
}
export type GroupItem =
  | { readonly item: "row"; readonly row: LogChunk }
  | { readonly item: "open"; readonly open: OpenView }
  /** A call with its result, live output and questions, paired by callId, also when one of them is paged out. */
  | {
      readonly item: "tool";
      readonly callId: string;
      readonly call: LogChunk | null;
      readonly result: LogChunk | null;
      readonly live: OpenView | null;
      readonly output: LiveOutput | null;
      readonly questions: readonly LogChunk[];
    };
