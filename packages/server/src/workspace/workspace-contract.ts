/**
 * CONTRACT between the doors (HTTP, WebSocket, SSE) and the workspace. The doors parse and authorise; the workspace decides.
 * Nothing here throws for a fault of the world or a bad request: it answers with a `Fault`.
 */
import type {
  Accepted,
  AnswerBody,
  BackgroundBody,
  ChunkId,
  Fault,
  Frame,
  HeadBody,
  LedgerBody,
  LogChunk,
  LogId,
  MessageBody,
  MessageFate,
  NewTabBody,
  Page,
  QueuedMessage,
  QueuePatch,
  StopBody,
  SubCommand,
  TabId,
  TabPatch,
  TabRecord,
  UsageBody,
} from "@varve/protocol";
import type { ContextActs } from "../context/context-contract.ts";
import type { LedgerPage } from "../ledger/tab-ledger.ts";
import type { AskedInTab, QuestionPage } from "./permission-log.ts";

/** A fault about a waiting message carries the record as it is now. */
export interface QueueFault extends Fault {
  readonly current?: QueuedMessage;
}

/** Where a door lets frames out. `buffered` is in bytes; `closeSlow` ends a connection that does not read. */
export interface FrameSink {
  send(frame: Frame): void;
  buffered(): number;
  closeSlow(): void;
}

/** A client's own digest of rows, and where it believes to stand. */
export interface DigestHeld {
  readonly log: LogId;
  readonly term: number;
  /** SHA-256 in hex. */
  readonly mine: string;
}

/** One cursor on one tab. */
export interface Subscription {
  focus(focused: boolean): void;
  /** Sends at once what is not sent yet: an answer to a command must not overtake the ops that it speaks of. */
  flush(): void;
  /** The connection has drained: a skipped tick may be made up for. */
  drained(): void;
  /** Idempotent; after it nothing is sent. */
  close(): void;
}

export interface PageRequest {
  readonly before?: number;
  readonly after?: number;
  readonly limit?: number;
}

/** Rows by seq, both ends included. */
export interface RowSpan {
  readonly lo: number;
  readonly hi: number;
}

export interface Workspace {
  readonly contexts: ContextActs;
  list(): readonly TabRecord[];
  create(body: NewTabBody): Promise<TabRecord | Fault>;
  get(tab: TabId): TabRecord | Fault;
  patch(tab: TabId, patch: TabPatch): Promise<TabRecord | Fault>;
  /** Moves it to the trash; from the trash it is purged. */
  remove(tab: TabId): Promise<Fault | null>;
  page(tab: TabId, request: PageRequest): Promise<Page | Fault>;
  row(tab: TabId, seq: number): Promise<LogChunk | Fault>;
  head(tab: TabId): Promise<HeadBody | Fault>;
  /** `by` is the client id, or the name of a token. */
  send(
    tab: TabId,
    message: MessageBody,
    by: string,
  ): Promise<(Accepted & { readonly seq?: number; readonly version?: number }) | Fault>;
  patchQueued(tab: TabId, id: ChunkId, patch: QueuePatch): Promise<QueuedMessage | QueueFault>;
  cancelQueued(tab: TabId, id: ChunkId): Promise<Accepted | Fault>;
  /** What became of a message; `unknown-message` for one that was never accepted here, or that a restore has taken back. */
  messageFate(tab: TabId, id: ChunkId): Promise<MessageFate | Fault>;
  stop(tab: TabId, body: StopBody): Promise<{ readonly stopped: boolean } | Fault>;
  /** A running call goes on as a background job. `moved: false`: it does not run, or cannot be moved; nothing was changed. */
  background(tab: TabId, body: BackgroundBody): Promise<{ readonly moved: boolean } | Fault>;
  answer(tab: TabId, body: AnswerBody, by: string): Promise<Fault | null>;
  /** What was asked and answered in the tab, newest first, and what holds of it. */
  asked(tab: TabId, page: QuestionPage): Promise<AskedInTab | Fault>;
  /** Takes back what the answer to this question allowed for this tab. */
  takeBack(tab: TabId, askId: ChunkId, by: string): Promise<Fault | null>;
  fork(tab: TabId, seq: number): Promise<TabRecord | Fault>;
  clear(tab: TabId): Promise<TabRecord | Fault>;
  resend(
    tab: TabId,
    at: { readonly seq: number; readonly id: ChunkId; readonly text: string },
    by: string,
  ): Promise<Accepted | Fault>;
  pointTo(tab: TabId, log: LogId): Promise<TabRecord | Fault>;
  logs(tab: TabId): Promise<
    | readonly {
        readonly id: LogId;
        readonly parentId: LogId | null;
        readonly parentSeq: number;
        readonly tail: number;
        readonly createdAt: number;
      }[]
    | Fault
  >;
  /** What the tab cost, by model, turn and step. */
  ledger(tab: TabId, page: LedgerPage): Promise<LedgerBody | Fault>;
  /** What all tabs cost on each of the last `days` days. */
  usage(days: number): Promise<UsageBody | Fault>;
  seen(tab: TabId, seq: number): Promise<void>;
  /** SHA-256 over the lines `seq id term JSON.stringify(data)` of the rows lo..hi, data as it travels. */
  digest(tab: TabId, lo: number, hi: number): Promise<string | Fault>;
  /** The same, and a difference from the client's own is counted, as long as it speaks of the tab's log and term. */
  compare(tab: TabId, rows: RowSpan, held: DigestHeld): Promise<string | Fault>;

  /** Captures and attaches in one tick, then sends a head and what follows. A fault: nothing was attached. */
  subscribe(
    command: Pick<SubCommand, "tab" | "have" | "focus"> & Partial<Pick<SubCommand, "re" | "open" | "want">>,
    sink: FrameSink,
  ): Promise<Subscription | Fault>;
  /** The tab list: a full frame at once, then changes. Returns the way to end it. */
  subscribeWorkspace(re: number | undefined, sink: FrameSink): () => void;

  readonly counters: () => Readonly<Record<string, number>>;
  /** Ends turns at a step boundary where that comes within the time, else stops them; then closes. */
  close(graceMs: number): Promise<void>;
}
