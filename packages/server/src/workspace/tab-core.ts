/**
 * The state of one tab and the only way to change it: `commit` writes a batch to the log and, in the tick in which it
 * learns that the batch is durable, announces what it says. Used by the tab's commands (`tab-actor.ts`) and by its running
 * turn (`turn-run.ts`), always inside the tab's mailbox.
 */
import type { Secrets } from "@varve/agent";
import {
  type Batch,
  type Claim,
  type CommitOutcome,
  FaultError,
  type Fence,
  type InboxRecord,
  type InboxWrite,
  type Log,
  type TabChange,
  type TabEntry,
} from "@varve/log";
import {
  assert,
  type ChunkId,
  type Clock,
  type Fault,
  fault,
  type IdMaker,
  isFault,
  limits,
  type QueuedMessage,
  type StoredRow,
  type TabId,
  type TabStatus,
  toTravelling,
  unreachable,
} from "@varve/protocol";
import { createFolder, type Folder } from "@varve/wire";
import { LogReader, type Reading } from "../context/log-reading.ts";
import { BlockJournal } from "./block-journal.ts";
import { cleanBatch } from "./clean-batch.ts";
import { Mailbox } from "./mailbox.ts";
import { TabFeed } from "./tab-feed.ts";
import { optionsOf } from "./tab-options.ts";
import { TabRows } from "./tab-rows.ts";

export interface CorePorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Lets whatever else waits in this process have its turn: long reads are done in pages. */
  readonly giveWay: () => Promise<void>;
  /** Taken out of everything that is written. */
  readonly secrets: Secrets;
  /** These rows are durable, and nobody was told of them yet. */
  readonly sealed: (fence: Fence, rows: readonly StoredRow[]) => void;
  /** Something that the tab list shows has changed. */
  readonly changed: (tabId: TabId) => void;
  /**
   * Inside the mailbox: these rows were written by a commit that had failed as far as anybody knew. `stops`: it made a
   * message that waits one that brings a stop.
   */
  readonly settled: (rows: readonly StoredRow[], stops: boolean) => Promise<void>;
}

type Committed = Extract<CommitOutcome, { kind: "committed" }>;
/** More writers than can be trying again at one time: a turn's calls, side by side. */
const settledMax = 32;
/** A write that takes longer is shown as waiting. In ms. */
const slowWriteMs = 1_000;
const slowWriteText =
  "Saving takes long: another program holds the database, or the disk is slow. What was sent waits, and nothing is lost.";
interface Settled {
  readonly batch: Batch;
  readonly outcome: Committed;
}

/** Whether a batch is tried again: its rows are those of the other. */
const isSame = (one: Batch, other: Batch): boolean =>
  other.rows.length > 0 && other.rows.every((row) => one.rows.some(({ id }) => id === row.id));

const bringsStop = (write: InboxWrite): boolean => write.write === "change" && write.delivery === "stop";

function tookEffect(write: InboxWrite, record: InboxRecord | null): boolean {
  if (record === null) return false;
  switch (write.write) {
    case "accept":
      return true;
    case "change":
      return record.version > write.version;
    case "seal":
      return record.state === "sealed";
    case "drop":
      return record.state === "dropped";
    default:
      return unreachable(write);
  }
}

export const queuedOf = (record: InboxRecord): QueuedMessage => {
  assert(record.state === "queued" || record.state === "held", `message ${record.id} does not wait: ${record.state}`);
  const { id, version, position, state, delivery, data, by, at } = record;
  return { id, version, position, state, delivery, data, by, at };
};

/** What the tab's options say of a restart, as `afterTurn` asks for it. */
export const afterRestart = ({ tab }: Pick<TabCore, "tab">): { readonly sendAfterRestart: boolean } => ({
  sendAfterRestart: optionsOf(tab.options).sendAfterRestart === true,
});

/** The writes that hold every message which would be sent by itself. */
export const holding = (queue: readonly QueuedMessage[]): readonly InboxWrite[] =>
  queue.flatMap(({ id, version, state }): readonly InboxWrite[] =>
    state === "queued" ? [{ write: "change", id, version, state: "held" }] : [],
  );

export class TabCore {
  readonly ports: CorePorts;
  readonly mailbox = new Mailbox();
  readonly feed: TabFeed;
  readonly rows: TabRows;
  readonly journal: BlockJournal;
  #fence: Fence;
  #tab: TabEntry;
  #tail: number;
  #folder: Folder | null = null;
  #reader: LogReader | null = null;
  /** Set when the right to write is lost for good: every further act answers with it. */
  #gone: Fault | null = null;
  /** The last commit failed, and nobody knows whether it was written. */
  #doubt: Batch | null = null;
  /** What was written though its answer was lost: whoever tries it again is told so. The oldest is forgotten first. */
  #settled: readonly Settled[] = [];

  constructor(claim: Claim, ports: CorePorts) {
    this.ports = ports;
    this.#fence = claim;
    this.#tab = claim.tab;
    this.#tail = claim.tail;
    this.feed = new TabFeed(claim.logId, claim.term);
    this.feed.restart(claim.logId, claim.term, claim.waiting.map(queuedOf));
    this.rows = new TabRows(ports.log, ports.giveWay);
    this.journal = new BlockJournal({ journal: ports.log.journal, clock: ports.clock, tabId: claim.tab.id });
  }

  get tabId(): TabId {
    return this.#tab.id;
  }
  get tab(): TabEntry {
    return this.#tab;
  }
  get fence(): Fence {
    return this.#fence;
  }
  get tail(): number {
    return this.#tail;
  }
  get inDoubt(): boolean {
    return this.#doubt !== null;
  }
  get gone(): Fault | null {
    return this.#gone;
  }

  /** All rows of the log, loaded. Inside the mailbox. */
  load(): Promise<readonly StoredRow[] | Fault> {
    return this.rows.load(this.#fence.logId, this.#tail);
  }

  /** What the fold remembers of the rows; as long as they are held. */
  folder(): Folder {
    this.#folder ??= createFolder();
    return this.#folder;
  }

  /** What the rows that are held say of the log's requests. */
  reading(): Reading {
    this.#reader ??= new LogReader();
    return this.#reader.read(this.rows.held());
  }

  /** Rows, and what was made of them, are read and made anew by whoever needs them next. */
  free(): void {
    this.rows.free();
    this.#folder = null;
    this.#reader = null;
  }

  /** The tab's own fields changed (title, model, permissions ...). Where it points is never taken from such an answer. */
  renewed(tab: TabEntry): void {
    const { logId, term, tail, seen } = this.#tab;
    this.#tab = { ...tab, logId, term, tail, seen: tab.logId === logId ? tab.seen : seen };
    this.ports.changed(tab.id);
  }

  /** The tab points to another log, under another term. Its fields are never taken from such an answer. */
  pointed(tab: TabEntry): void {
    const { id, logId, term, tail, seen } = tab;
    this.feed.publish({ op: "log", logId });
    this.#fence = { tabId: id, logId, term };
    this.#tab = { ...this.#tab, logId, term, tail, seen };
    this.#tail = tail;
    this.free();
    this.feed.restart(logId, term, this.feed.queue());
    this.ports.changed(id);
  }

  /** Inside the mailbox. What was committed is announced before this answers. */
  async commit(given: Batch): Promise<CommitOutcome> {
    // The last moment: what is sealed never changes. Nothing is announced before, so nobody sees it otherwise either.
    const batch = cleanBatch(given, this.ports.secrets);
    if (this.#gone !== null) return { kind: "failed", fault: this.#gone };
    const problem = this.#doubt === null ? null : await this.settle();
    if (problem !== null) return { kind: "failed", fault: problem };
    const earlier = this.#settled.find((one) => isSame(one.batch, batch));
    if (earlier !== undefined) return earlier.outcome;
    const outcome = await this.#shownWhenSlow(this.ports.log.commit(this.#fence, batch));
    if (outcome.kind === "fenced") {
      this.#gone = fault(
        "log-fenced",
        "Another process took this tab over.",
        "Nothing was written here; reload the page.",
      );
      return outcome;
    }
    if (outcome.kind === "failed") this.#doubt = batch;
    if (outcome.kind === "committed") this.#announceAll(outcome, batch.tab ?? {});
    return outcome;
  }

  /**
   * Inside the mailbox, before anything is decided: a commit that failed may have been written all the same, when only its
   * answer was lost. Then it is announced now, and what it began goes on. A fault: it is still not known.
   */
  async settle(): Promise<Fault | null> {
    const batch = this.#doubt;
    if (batch === null) return null;
    const found = await this.#written(batch);
    if (isFault(found)) return found;
    this.#doubt = null;
    if (found === null) return null;
    this.#announceAll(found, batch.tab ?? {});
    this.#settled = [...this.#settled.slice(1 - settledMax), { batch, outcome: found }];
    await this.ports.settled(found.rows, (batch.inbox ?? []).some(bringsStop));
    return null;
  }

  /** Whoever waits for a write that takes long is told why nothing moves. */
  async #shownWhenSlow<T>(write: Promise<T>): Promise<T> {
    let shown: TabStatus["fault"];
    const timer = this.ports.clock.setTimer(slowWriteMs, () => {
      if (this.feed.status.fault !== undefined) return;
      shown = { code: "log-unavailable", message: slowWriteText };
      this.status({ fault: shown });
    });
    try {
      return await write;
    } finally {
      timer.cancel();
      if (shown !== undefined && this.feed.status.fault === shown) this.status({ fault: undefined });
    }
  }

  async #written(batch: Batch): Promise<Committed | Fault | null> {
    const { log } = this.ports;
    const writes = batch.inbox ?? [];
    try {
      const page = await log.page({ logId: this.#fence.logId, after: this.#tail, limit: limits.pageRowsMax });
      if (isFault(page)) return page;
      const records = await Promise.all(writes.map(({ id }) => log.message(id)));
      const ids = new Set(page.rows.map((row) => row.id));
      // A batch is all or nothing: its rows tell, and where it has none, its messages.
      const isThere =
        batch.rows.length > 0
          ? batch.rows.every((row) => ids.has(row.id))
          : writes.length > 0 && writes.every((write, at) => tookEffect(write, records[at] ?? null));
      const inbox = records.filter((record) => record !== null);
      return isThere ? { kind: "committed", rows: page.rows, tail: page.tail, inbox } : null;
    } catch (error) {
      if (error instanceof FaultError) return error.fault;
      throw error;
    }
  }

  #announceAll(outcome: Extract<CommitOutcome, { kind: "committed" }>, tab: TabChange): void {
    this.#tail = outcome.tail;
    this.rows.sealed(outcome.rows);
    this.ports.sealed(this.#fence, outcome.rows);
    this.#tab = { ...this.#tab, ...tab, tail: outcome.tail };
    for (const row of outcome.rows) {
      if (this.feed.open.has(row.id)) this.journal.closed(row.id);
      this.feed.publish({ op: "chunk-seal", row: toTravelling(row, this.tabId) });
    }
    for (const record of outcome.inbox) this.#announce(record);
    this.ports.changed(this.tabId);
  }

  status(change: Partial<TabStatus>): void {
    this.feed.publish({ op: "status", ...this.feed.status, ...change });
    this.ports.changed(this.tabId);
  }

  open(block: Parameters<BlockJournal["opened"]>[1]): void {
    this.feed.publish({ op: "chunk-open", ...block });
    this.journal.opened(this.#fence.logId, block);
  }

  grow(id: ChunkId, text: string): void {
    const offset = this.feed.open.get(id)?.text.length ?? 0;
    this.feed.grow(id, text);
    this.journal.grew(id, offset, text);
  }

  drop(id: ChunkId): void {
    if (!this.feed.open.has(id)) return;
    this.journal.closed(id);
    this.feed.publish({ op: "message-dropped", id, reason: "lost" });
  }

  #announce(record: InboxRecord): void {
    // A sealed message needs no op of its own: its row's seal is the news.
    if (record.state === "sealed") return;
    if (record.state === "dropped") this.feed.publish({ op: "message-dropped", id: record.id, reason: "cancelled" });
    else this.feed.publish({ op: "message-queued", ...queuedOf(record) });
  }
}
