/**
 * What the owner of a tab announces, in memory: the counter `n`, the ring of recent ops, and the state that a head shows
 * (queue, open blocks, live output, status). Changed only by the tab's owner, always in one tick with the fact it tells.
 *
 * A subscription never gets a queue of its own: it holds a cursor into this feed (`tab-subscription.ts`).
 */
import {
  assert,
  byPlace,
  byPosition,
  type ChunkId,
  type Frame,
  type LogId,
  limits,
  type Op,
  type OpenBlock,
  type QueuedMessage,
  type TabId,
  type TabStatus,
} from "@varve/protocol";
import { SharedEdge, SharedTick } from "./shared-tick.ts";

/** Ops that take a stamp. */
export type CountedOp = Exclude<Op, { op: "chunk-delta" } | { op: "output" }>;

export interface GrowingBlock {
  readonly block: Omit<OpenBlock, "offset" | "text">;
  text: string;
}
export interface OutputRegister {
  readonly callId: string;
  readonly bytes: number;
  readonly tail: string;
}

/** A place in the feed up to which a reader was told everything. Immutable. */
export interface Cursor {
  readonly log: LogId;
  readonly term: number;
  /** Stamp of the newest op told. */
  readonly n: number;
  /** Per open block: the length of text told. */
  readonly offsets: ReadonlyMap<ChunkId, number>;
}
export type OpsFrame = Extract<Frame, { type: "ops" }>;

/** How much of a growing text is told: a lone first half of a surrogate pair stays behind until its second half is there. */
export function wholeEnd(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

interface RingEntry {
  readonly op: CountedOp;
  readonly bytes: number;
}

const idle: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };

/** What an op holds in memory, roughly. Those without a text of their own are small. */
function bytesOf(op: CountedOp): number {
  if (op.op === "chunk-seal") return JSON.stringify(op.row).length;
  return op.op === "message-queued" ? JSON.stringify(op.data).length + 256 : 256;
}

export class TabFeed {
  #logId: LogId;
  #term: number;
  #n = 0;
  #ring: RingEntry[] = [];
  #ringBytes = 0;
  #status: TabStatus = idle;
  readonly #queue = new Map<ChunkId, QueuedMessage>();
  readonly #open = new Map<ChunkId, GrowingBlock>();
  readonly #outputs = new Map<string, OutputRegister>();
  readonly #listeners = new Set<() => void>();
  /** What the readers wait for: those who look, and those who have the tab in the background. */
  readonly ticks = { focused: new SharedTick(), background: new SharedTick() };
  /** What those wait for who were sent nothing for an interval. */
  readonly edge = new SharedEdge();
  /** Made on demand, and as good as until the next change: where the feed stands, and what lies between it and a cursor. */
  #here: Cursor | null = null;
  readonly #frames = new Map<Cursor, OpsFrame | null>();

  constructor(logId: LogId, term: number) {
    this.#logId = logId;
    this.#term = term;
  }

  get logId(): LogId {
    return this.#logId;
  }
  get term(): number {
    return this.#term;
  }
  /** Stamp of the newest op. */
  get n(): number {
    return this.#n;
  }
  get status(): TabStatus {
    return this.#status;
  }
  get open(): ReadonlyMap<ChunkId, GrowingBlock> {
    return this.#open;
  }
  get outputs(): ReadonlyMap<string, OutputRegister> {
    return this.#outputs;
  }
  queued(id: ChunkId): QueuedMessage | undefined {
    return this.#queue.get(id);
  }
  get queueLength(): number {
    return this.#queue.size;
  }
  queue(): readonly QueuedMessage[] {
    return [...this.#queue.values()].sort(byPosition);
  }
  openBlocks(): readonly GrowingBlock[] {
    return [...this.#open.values()].sort((a, b) => byPlace(a.block, b.block));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Another term or log: every cursor is void, and gets a head. */
  restart(logId: LogId, term: number, waiting: readonly QueuedMessage[]): void {
    this.#logId = logId;
    this.#term = term;
    this.#n = 0;
    this.#ring = [];
    this.#ringBytes = 0;
    this.#queue.clear();
    for (const message of waiting) this.#queue.set(message.id, message);
    this.#open.clear();
    this.#outputs.clear();
    this.#status = { ...idle, lastSealed: this.#status.lastSealed };
    this.#changed();
  }

  publish(op: CountedOp): void {
    this.#n++;
    this.#apply(op);
    const bytes = bytesOf(op);
    this.#ring.push({ op, bytes });
    this.#ringBytes += bytes;
    while (this.#ring.length > limits.ringOpsMax || (this.#ringBytes > limits.ringBytesMax && this.#ring.length > 1)) {
      this.#ringBytes -= this.#ring.shift()?.bytes ?? 0;
    }
    this.#changed();
  }

  /** Appends to an open block. */
  grow(id: ChunkId, text: string): void {
    const entry = this.#open.get(id);
    assert(entry !== undefined, `text for a block that is not open: ${id}`);
    entry.text += text;
    this.#changed();
  }

  setOutput(register: OutputRegister): void {
    this.#outputs.set(register.callId, register);
    this.#changed();
  }

  /** The cursor of a reader who was told everything: one object until something changes. */
  here(): Cursor {
    if (this.#here !== null) return this.#here;
    const offsets = new Map<ChunkId, number>();
    for (const [id, entry] of this.#open) offsets.set(id, wholeEnd(entry.text));
    this.#here = { log: this.#logId, term: this.#term, n: this.#n, offsets };
    return this.#here;
  }

  /**
   * What leads from a cursor to `here()`, output registers aside; it may hold no ops. Null: a head must. Readers at one
   * cursor get one frame, so that however many there are it is made, and written out, once.
   */
  frameFrom(cursor: Cursor, tab: TabId): OpsFrame | null {
    const made = this.#frames.get(cursor);
    if (made !== undefined) return made;
    const frame = this.#frameFrom(cursor, tab);
    this.#frames.set(cursor, frame);
    return frame;
  }

  #frameFrom(cursor: Cursor, tab: TabId): OpsFrame | null {
    const { log, term, n, offsets } = cursor;
    const counted = term === this.#term && log === this.#logId ? this.since(n) : null;
    if (counted === null) return null;
    const ops: Op[] = [...counted];
    const here = this.here();
    for (const [id, { text }] of this.#open) {
      const offset = offsets.get(id) ?? 0;
      const end = here.offsets.get(id) ?? 0;
      if (end > offset) ops.push({ op: "chunk-delta", id, offset, text: text.slice(offset, end) });
    }
    return { type: "ops", tab, log, term, a: n + 1, b: this.#n, ops };
  }

  /** The ops after stamp `n`, or null when the ring no longer reaches back so far. */
  since(n: number): readonly CountedOp[] | null {
    const missing = this.#n - n;
    if (missing < 0 || missing > this.#ring.length) return null;
    return this.#ring.slice(this.#ring.length - missing).map((entry) => entry.op);
  }

  /** Nothing has run for a while: the ring is freed. Whoever was told everything goes on as before, anybody else gets a head. */
  rest(): void {
    this.#ring = [];
    this.#ringBytes = 0;
    this.#frames.clear();
  }

  #apply(op: CountedOp): void {
    switch (op.op) {
      case "chunk-open": {
        const { op: _, ...block } = op;
        this.#open.set(op.id, { block, text: "" });
        return;
      }
      case "chunk-seal":
        this.#open.delete(op.row.id);
        this.#queue.delete(op.row.id);
        if (op.row.type === "tool_result") this.#outputs.delete(op.row.data.callId);
        return;
      case "message-queued": {
        const { op: _, ...message } = op;
        this.#queue.set(op.id, message);
        return;
      }
      case "message-dropped":
        this.#open.delete(op.id);
        this.#queue.delete(op.id);
        return;
      case "status": {
        const { op: _, ...status } = op;
        this.#status = status;
        return;
      }
      case "log":
        this.#logId = op.logId;
        return;
    }
  }

  #changed(): void {
    this.#here = null;
    if (this.#frames.size > 0) this.#frames.clear();
    for (const listener of this.#listeners) listener();
  }
}
