/**
 * The state of one tab and the only way to change it: `commit` writes a batch to the log and, in the tick in which it
 * learns that the batch is durable, announces what it says. Used by the tab's commands (`tab-actor.ts`) and by its running
 * turn (`turn-run.ts`), always inside the tab's mailbox.
 */
import type { Batch, Claim, CommitOutcome, Fence, InboxRecord, InboxWrite, Log, TabChange, TabEntry } from "@varve/log";
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
} from "@varve/protocol";
import { BlockJournal } from "./block-journal.ts";
import { Mailbox } from "./mailbox.ts";
import { TabFeed } from "./tab-feed.ts";
import { TabRows } from "./tab-rows.ts";

export interface CorePorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Something that the tab list shows has changed. */
  readonly changed: (tabId: TabId) => void;
}

export const queuedOf = (record: InboxRecord): QueuedMessage => {
  assert(record.state === "queued" || record.state === "held", `message ${record.id} does not wait: ${record.state}`);
  const { id, version, position, state, delivery, data, by, at } = record;
  return { id, version, position, state, delivery, data, by, at };
};

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
  /** Set when the right to write is lost for good: every further act answers with it. */
  #gone: Fault | null = null;
  /** The last commit failed, and nobody knows whether it was written. */
  #inDoubt = false;

  constructor(claim: Claim, ports: CorePorts) {
    this.ports = ports;
    this.#fence = claim;
    this.#tab = claim.tab;
    this.#tail = claim.tail;
    this.feed = new TabFeed(claim.logId, claim.term);
    this.feed.restart(claim.logId, claim.term, claim.waiting.map(queuedOf));
    this.rows = new TabRows(ports.log);
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
  get gone(): Fault | null {
    return this.#gone;
  }

  /** All rows of the log, loaded. Inside the mailbox. */
  load(): Promise<readonly StoredRow[] | Fault> {
    return this.rows.load(this.#fence.logId, this.#tail);
  }

  /** The tab's own fields changed (title, model, permissions ...). */
  renewed(tab: TabEntry): void {
    this.#tab = tab;
    this.ports.changed(tab.id);
  }

  /** The tab points elsewhere, under a new claim. */
  reclaimed(claim: Claim): void {
    this.#fence = claim;
    this.#tab = claim.tab;
    this.#tail = claim.tail;
    this.rows.free();
    this.feed.restart(claim.logId, claim.term, claim.waiting.map(queuedOf));
    this.ports.changed(claim.tab.id);
  }

  /** Inside the mailbox. What was committed is announced before this answers. */
  async commit(batch: Batch): Promise<CommitOutcome> {
    if (this.#gone !== null) return { kind: "failed", fault: this.#gone };
    const outcome = await this.ports.log.commit(this.#fence, batch);
    if (outcome.kind === "fenced") {
      this.#gone = fault(
        "log-fenced",
        "Another process took this tab over.",
        "Nothing was written here; reload the page.",
      );
      return outcome;
    }
    if (outcome.kind === "refused" && this.#inDoubt) return this.#catchUp(batch, outcome);
    this.#inDoubt = outcome.kind === "failed";
    if (outcome.kind === "committed") this.#announceAll(outcome, batch.tab ?? {});
    return outcome;
  }

  /**
   * A commit whose answer was lost may have been written all the same. Trying it again is refused then, for its ids are
   * there: what is in the log and not yet announced is what it wrote.
   */
  async #catchUp(batch: Batch, refused: CommitOutcome): Promise<CommitOutcome> {
    const { log } = this.ports;
    const page = await log.page({ logId: this.#fence.logId, after: this.#tail, limit: limits.pageRowsMax });
    if (isFault(page)) return { kind: "failed", fault: page };
    const found = await Promise.all((batch.inbox ?? []).map(({ id }) => log.message(id)));
    const inbox = found.filter((record) => record !== null);
    const ids = new Set(page.rows.map((row) => row.id));
    const written = batch.rows.every((row) => ids.has(row.id)) && inbox.length === found.length;
    this.#inDoubt = false;
    if (!written || batch.rows.length + inbox.length === 0) return refused;
    const outcome = { kind: "committed", rows: page.rows, tail: page.tail, inbox } as const;
    this.#announceAll(outcome, batch.tab ?? {});
    return outcome;
  }

  #announceAll(outcome: Extract<CommitOutcome, { kind: "committed" }>, tab: TabChange): void {
    this.#tail = outcome.tail;
    this.rows.sealed(outcome.rows);
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
