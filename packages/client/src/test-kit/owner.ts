/**
 * A small owner of one tab, for tests: it does what the protocol promises of an owner and nothing else. Every change is
 * an op at the next stamp, told to whoever is attached; a head is captured and its reader attached in one go.
 */
import {
  type ChunkId,
  type Command,
  digestText,
  type Frame,
  type HeadFrame,
  type LogChunk,
  type LogId,
  type MessageFate,
  type Op,
  type OpenBlock,
  type OpsFrame,
  type Page,
  parseChunkId,
  parseLogId,
  parseTabId,
  parseTurnId,
  type QueuedMessage,
  type TabId,
  type TabStatus,
  type TurnId,
} from "@varve/protocol";
import { Sha256 } from "../sha-256.ts";

const legal = <T>(id: T | null): T => {
  if (id === null) throw new Error("a test uses legal ids");
  return id;
};
export const chunkId = (text: string): ChunkId => legal(parseChunkId(text));
export const logId = (text: string): LogId => legal(parseLogId(text));
export const tabId = (text: string): TabId => legal(parseTabId(text));
export const turnId = (text: string): TurnId => legal(parseTurnId(text));
export const theTab = tabId("tab");

export interface RowParts {
  readonly id: string;
  readonly seq: number;
  readonly term?: number;
  readonly text?: string;
  readonly role?: "user" | "assistant";
  readonly turn?: string;
  readonly step?: number;
}
export const textRow = ({
  id,
  seq,
  term = 1,
  text = id,
  role = "assistant",
  turn = "t1",
  step = 0,
}: RowParts): LogChunk => ({
  id: chunkId(id),
  seq,
  term,
  tabId: theTab,
  turnId: turnId(turn),
  step,
  createdAt: 0,
  role,
  type: "text",
  data: { text },
});

const idle: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };

interface Durable {
  readonly log: LogId;
  readonly rows: readonly LogChunk[];
  readonly queue: readonly QueuedMessage[];
  readonly inbox: ReadonlyMap<ChunkId, "queued" | "sealed" | "dropped">;
}
interface Growing {
  readonly block: Omit<OpenBlock, "offset" | "text">;
  text: string;
}

export class Owner {
  log = logId("log-1");
  term = 1;
  n = 0;
  rows: LogChunk[] = [];
  queue: QueuedMessage[] = [];
  inbox = new Map<ChunkId, "queued" | "sealed" | "dropped">();
  open = new Map<ChunkId, Growing>();
  status: TabStatus = idle;
  digestChecks = 0;
  digestMismatches = 0;
  /** Every row, text and version that was ever true, to tell a phantom by. */
  readonly everTexts = new Map<ChunkId, string[]>();
  /** `log id` of every row that ever stood in a log. */
  readonly everRows = new Set<string>();
  /** Messages that were cancelled, whatever a restored database says. */
  readonly everDropped = new Set<ChunkId>();
  #logs = 1;
  #blocks = 0;
  #places = 0;
  readonly #readers = new Map<object, (frame: Frame) => void>();

  get tail(): number {
    return this.rows.length;
  }

  // --- readers -----------------------------------------------------------------------------------------------------

  attach(reader: object, send: (frame: Frame) => void): void {
    this.#readers.set(reader, send);
  }
  detach(reader: object): void {
    this.#readers.delete(reader);
  }

  head(asked: Partial<Extract<Command, { type: "sub" }>> = {}): HeadFrame {
    const { have = null, want = 100 } = asked;
    const held = have === null ? undefined : this.rows[have.seq - 1];
    const valid = have !== null && have.log === this.log && (have.seq === 0 || held?.term === have.term);
    const from = valid ? have.seq : 0;
    const follows = valid && (this.tail - from <= want || want === 0);
    const rows = follows ? this.rows.slice(want === 0 ? this.tail : from) : this.rows.slice(-(want || 100));
    const open = [...this.open.values()].map(({ block, text }): OpenBlock => {
      const offset = Math.min(asked.open?.[block.id] ?? 0, text.length);
      return { ...block, offset, text: text.slice(offset) };
    });
    return {
      type: "head",
      ...(asked.re === undefined ? {} : { re: asked.re }),
      tab: theTab,
      log: this.log,
      term: this.term,
      n: this.n,
      from,
      mode: valid ? "append" : "reset",
      rows,
      tail: this.tail,
      queue: [...this.queue],
      open,
      outputs: [],
      status: this.status,
    };
  }

  page(query: { readonly before?: number; readonly after?: number; readonly limit?: number }): Page {
    const limit = query.limit ?? 100;
    const below = this.rows.slice(0, query.before === undefined ? undefined : Math.max(0, query.before - 1));
    const chunks = query.after === undefined ? below.slice(-limit) : this.rows.slice(query.after, query.after + limit);
    return { chunks, total: this.tail, tail: this.tail, logId: this.log, term: this.term };
  }

  /** What became of a message; null: it was never taken, or a restore has taken it back. */
  fateBody(id: string): MessageFate | null {
    const known = [...this.inbox].find(([taken]) => taken === id);
    if (known === undefined) return null;
    const seq = this.rows.find((row) => row.id === id)?.seq;
    return { id: known[0], state: known[1], term: this.term, ...(seq !== undefined && { seq }) };
  }

  /** A head with the digest of some rows; what a client sends along as its own is compared and counted. */
  headBody(path: string): { readonly logId: LogId; readonly term: number; readonly digest: string } {
    const query = new URL(path, "http://host").searchParams;
    const [lo = 0, hi = 0] = (query.get("digest") ?? "").split("-").map(Number);
    const hash = new Sha256();
    hash.add(digestText(this.rows.slice(lo - 1, hi)));
    const digest = hash.hex();
    if (query.get("log") === this.log && query.get("term") === String(this.term)) {
      this.digestChecks += 1;
      if (query.get("mine") !== digest) this.digestMismatches += 1;
    }
    return { logId: this.log, term: this.term, digest };
  }

  // --- messages ----------------------------------------------------------------------------------------------------

  /** Idempotent by id. An idle owner seals at once. */
  send(id: ChunkId, text: string): Frame {
    const known = this.inbox.get(id);
    if (known === undefined) {
      this.#remember(id, text);
      if (this.status.state === "idle") this.#sealMessage(id, text);
      else {
        this.inbox.set(id, "queued");
        this.#putQueued({
          id,
          version: 1,
          position: ++this.#places,
          state: "queued",
          delivery: "steer",
          data: { text },
          by: "client",
          at: 0,
        });
      }
    }
    return this.#ack(id);
  }
  edit(id: ChunkId, text: string): void {
    const message = this.queue.find((item) => item.id === id);
    if (message === undefined) return;
    this.#remember(id, text);
    this.#putQueued({ ...message, version: message.version + 1, data: { text } });
  }
  cancel(id: ChunkId): void {
    if (this.inbox.get(id) !== "queued") return;
    this.inbox.set(id, "dropped");
    this.everDropped.add(id);
    this.queue = this.queue.filter((item) => item.id !== id);
    this.emit({ op: "message-dropped", id, reason: "cancelled" });
  }
  consume(): void {
    const message = this.queue[0];
    if (message !== undefined) this.#sealMessage(message.id, message.data.text);
  }

  // --- turns -------------------------------------------------------------------------------------------------------

  startTurn(): void {
    this.#setStatus({ ...this.status, state: "running", turnId: turnId(`t${this.n + 1}`), step: 0 });
  }
  endTurn(): void {
    for (const id of [...this.open.keys()]) this.sealBlock(id);
    this.#setStatus({ state: "idle", turnId: null, step: 0, waits: [], lastSealed: this.status.turnId });
  }
  openBlock(): ChunkId {
    const id = chunkId(`b${this.term}-${++this.#blocks}`);
    const block = {
      id,
      turnId: this.status.turnId ?? turnId("t0"),
      step: 0,
      index: this.#blocks,
      role: "assistant" as const,
      type: "text" as const,
      at: 0,
    };
    this.open.set(id, { block, text: "" });
    this.emit({ op: "chunk-open", ...block });
    return id;
  }
  grow(id: ChunkId, text: string): void {
    const growing = this.open.get(id);
    if (growing === undefined) return;
    const offset = growing.text.length;
    growing.text += text;
    this.#remember(id, growing.text);
    this.emit({ op: "chunk-delta", id, offset, text });
  }
  sealBlock(id: ChunkId): void {
    const growing = this.open.get(id);
    if (growing === undefined) return;
    this.open.delete(id);
    this.#seal(textRow({ id, seq: this.tail + 1, term: this.term, text: growing.text }));
  }
  dropBlock(id: ChunkId): void {
    if (!this.open.delete(id)) return;
    this.emit({ op: "message-dropped", id, reason: "lost" });
  }
  /** A row of any kind at the end of the log. */
  sealRow(row: LogChunk): void {
    this.#seal(row);
  }
  /** Many rows in one frame, as a long step seals them. */
  sealMany(count: number): void {
    const ops = Array.from({ length: count }, (): Op => {
      const row = textRow({ id: `r${this.term}-${++this.#blocks}`, seq: this.tail + 1, term: this.term });
      this.rows.push(row);
      this.everRows.add(`${this.log} ${row.id}`);
      this.#remember(row.id, row.id);
      return { op: "chunk-seal", row };
    });
    this.emit(...ops);
  }

  // --- what befalls an owner ---------------------------------------------------------------------------------------

  /** A crash and a new owner: open blocks are lost, what waits still waits. */
  restart(): void {
    this.term += 1;
    this.n = 0;
    this.open.clear();
    this.status = idle;
    this.#headToAll();
  }
  /** The tab points to a new log. Its counter starts anew in the same term. */
  clear(): void {
    this.log = logId(`log-${++this.#logs}`);
    this.n = 0;
    this.rows = [];
    this.open.clear();
    this.status = idle;
    this.#headToAll();
  }
  backup(): Durable {
    return { log: this.log, rows: [...this.rows], queue: [...this.queue], inbox: new Map(this.inbox) };
  }
  /** The server comes up with an older database, under a term that was never used. */
  restore(backup: Durable): void {
    this.log = backup.log;
    this.rows = [...backup.rows];
    this.queue = [...backup.queue];
    this.inbox = new Map(backup.inbox);
    this.restart();
  }

  /** Something follows everything that was said, so that whatever was lost on the way shows. */
  announce(): void {
    for (const id of this.open.keys()) this.grow(id, ".");
    this.emit({ op: "status", ...this.status });
  }

  emit(...ops: readonly Op[]): void {
    const a = this.n + 1;
    this.n += ops.filter((op) => op.op !== "chunk-delta" && op.op !== "output").length;
    const frame: OpsFrame = { type: "ops", tab: theTab, log: this.log, term: this.term, a, b: this.n, ops: [...ops] };
    for (const send of this.#readers.values()) send(frame);
  }

  #headToAll(): void {
    for (const send of this.#readers.values()) send(this.head());
  }
  #ack(id: ChunkId): Frame {
    const state = this.inbox.get(id) ?? "dropped";
    const seq = this.rows.find((row) => row.id === id)?.seq;
    return { type: "ack", re: 0, id, state, ...(seq === undefined ? {} : { seq }) };
  }
  #putQueued(message: QueuedMessage): void {
    this.queue = [...this.queue.filter((item) => item.id !== message.id), message].sort(
      (a, b) => a.position - b.position,
    );
    this.emit({ op: "message-queued", ...message });
  }
  #sealMessage(id: ChunkId, text: string): void {
    this.inbox.set(id, "sealed");
    this.queue = this.queue.filter((item) => item.id !== id);
    this.#seal(textRow({ id, seq: this.tail + 1, term: this.term, text, role: "user" }));
    if (this.status.state === "idle") this.startTurn();
  }
  #seal(row: LogChunk): void {
    this.rows.push(row);
    this.everRows.add(`${this.log} ${row.id}`);
    if (row.type === "text") this.#remember(row.id, row.data.text);
    this.emit({ op: "chunk-seal", row });
  }
  #setStatus(status: TabStatus): void {
    this.status = status;
    this.emit({ op: "status", ...status });
  }
  #remember(id: ChunkId, text: string): void {
    this.everTexts.set(id, [...(this.everTexts.get(id) ?? []), text]);
  }
}
