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
  type LogId,
  limits,
  type Op,
  type OpenBlock,
  type QueuedMessage,
  type TabStatus,
} from "@varve/protocol";

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

  /** The ops after stamp `n`, or null when the ring no longer reaches back so far. */
  since(n: number): readonly CountedOp[] | null {
    const missing = this.#n - n;
    if (missing < 0 || missing > this.#ring.length) return null;
    return this.#ring.slice(this.#ring.length - missing).map((entry) => entry.op);
  }

  /** Nobody listens and nothing runs: the ring is freed. */
  rest(): void {
    if (this.#listeners.size > 0) return;
    this.#ring = [];
    this.#ringBytes = 0;
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
    for (const listener of this.#listeners) listener();
  }
}
