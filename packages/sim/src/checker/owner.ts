/**
 * A small model of the one owner of a tab: what it does is what the protocol promises of an owner. All functions are
 * pure; an owner is an immutable value. Each act yields the ops that it tells.
 */
import {
  type ChunkId,
  type HeadFrame,
  idleStatus,
  type LogChunk,
  type LogId,
  type Op,
  type OpenBlock,
  type OpsFrame,
  type Page,
  parseChunkId,
  parseLogId,
  parseTabId,
  parseTurnId,
  type QueuedMessage,
  type SubCommand,
  type TabId,
  type TabStatus,
  type TurnId,
} from "@varve/protocol";
import type { Off } from "./rules.ts";

const legal = <T>(id: T | null): T => {
  if (id === null) throw new Error("a model uses legal ids");
  return id;
};
export const chunkId = (text: string): ChunkId => legal(parseChunkId(text));
export const logId = (text: string): LogId => legal(parseLogId(text));
export const turnId = (text: string): TurnId => legal(parseTurnId(text));
export const theTab: TabId = legal(parseTabId("tab"));

/** Every block says the beginning of this. No character comes twice, so that a text said twice is no beginning of it. */
export const alphabet = "abcdefgh";

export interface Growing {
  readonly block: Omit<OpenBlock, "offset" | "text">;
  readonly text: string;
  /** Given when it opened: only where the rule that seq is given at seal is taken away. */
  readonly seq: number | null;
}

/** What is on disk. */
export interface Durable {
  readonly log: LogId;
  readonly term: number;
  /** Ascending by seq. */
  readonly rows: readonly LogChunk[];
  /** The last seq that was given. */
  readonly given: number;
  readonly queue: readonly QueuedMessage[];
  readonly inbox: ReadonlyMap<ChunkId, "queued" | "sealed" | "dropped">;
  readonly places: number;
  /** The rows of the log to which the tab pointed before. */
  readonly former: { readonly log: LogId; readonly rows: readonly LogChunk[]; readonly given: number } | null;
}
export interface Owner extends Durable {
  readonly n: number;
  readonly open: readonly Growing[];
  readonly status: TabStatus;
}

export interface Act {
  readonly owner: Owner;
  /** Told in one frame; empty: nothing happened. */
  readonly ops: readonly Op[];
}

export const newOwner = (rows: number): Owner => ({
  log: logId("log-1"),
  term: 1,
  rows: Array.from({ length: rows }, (_, i) => rowOf({ id: `r${i + 1}`, seq: i + 1, term: 1, text: `r${i + 1}` })),
  given: rows,
  queue: [],
  inbox: new Map(),
  places: 0,
  former: null,
  n: 0,
  open: [],
  status: idleStatus,
});

interface RowParts {
  readonly id: string;
  readonly seq: number;
  readonly term: number;
  readonly text: string;
  readonly role?: "user" | "assistant";
}
const rowOf = ({ id, seq, term, text, role = "assistant" }: RowParts): LogChunk => ({
  id: chunkId(id),
  seq,
  term,
  tabId: theTab,
  turnId: turnId("t"),
  step: 0,
  createdAt: 0,
  role,
  type: "text",
  data: { text },
});

export const tailOf = (owner: Durable): number => owner.rows.at(-1)?.seq ?? 0;
export const isStamped = (op: Op): boolean => op.op !== "chunk-delta" && op.op !== "output";

/** The frame that tells what an act did, and the owner whose counter counts it. */
export function frameOf(before: Owner, act: Act): { readonly owner: Owner; readonly frame: OpsFrame } {
  const { log, term } = before;
  const n = before.n + act.ops.filter(isStamped).length;
  const frame: OpsFrame = { type: "ops", tab: theTab, log, term, a: before.n + 1, b: n, ops: [...act.ops] };
  return { owner: { ...act.owner, n }, frame };
}

// --- reading -------------------------------------------------------------------------------------------------------

export interface Asked {
  readonly have: SubCommand["have"];
  readonly open?: SubCommand["open"];
  readonly want?: number | undefined;
  readonly re?: number;
}

export function headOf(owner: Owner, asked: Asked, options: { readonly page: number; readonly off: Off }): HeadFrame {
  const tail = tailOf(owner);
  const vouched = vouchedFor(owner, asked.have, options.off);
  const want = Math.min(asked.want ?? options.page, options.page);
  const limit = want === 0 ? options.page : want;
  const follows = vouched !== null && (want === 0 || tail - vouched <= limit);
  const after = want === 0 ? [] : owner.rows.filter((row) => row.seq > (vouched ?? 0));
  const open = owner.open.map(({ block, text }): OpenBlock => {
    const offset = Math.min(asked.open?.[block.id] ?? 0, text.length);
    return { ...block, offset, text: text.slice(offset) };
  });
  return {
    type: "head",
    ...(asked.re === undefined ? {} : { re: asked.re }),
    tab: theTab,
    log: owner.log,
    term: owner.term,
    n: owner.n,
    from: vouched ?? 0,
    mode: vouched === null ? "reset" : "append",
    rows: follows ? after : owner.rows.slice(-limit),
    tail,
    queue: [...owner.queue],
    open,
    outputs: [],
    status: owner.status,
  };
}

function vouchedFor(owner: Owner, have: SubCommand["have"], off: Off): number | null {
  if (have === null || have.log !== owner.log || have.seq > tailOf(owner)) return null;
  if (have.seq === 0 || off === "term-and-seq") return have.seq;
  return owner.rows.find((row) => row.seq === have.seq)?.term === have.term ? have.seq : null;
}

export interface PageQuery {
  readonly before?: number;
  readonly after?: number;
}
export function pageOf(owner: Owner, { before, after }: PageQuery, limit: number): Page {
  const below = owner.rows.filter((row) => before === undefined || row.seq < before);
  const above = owner.rows.filter((row) => row.seq > (after ?? 0));
  const chunks = after === undefined ? below.slice(-limit) : above.slice(0, limit);
  const tail = tailOf(owner);
  return { chunks, total: tail, tail, logId: owner.log, term: owner.term };
}

// --- messages ------------------------------------------------------------------------------------------------------

const idle = (owner: Owner): boolean => owner.status.state === "idle";
const withInbox = (owner: Owner, id: ChunkId, state: "queued" | "sealed" | "dropped"): Owner["inbox"] =>
  new Map([...owner.inbox, [id, state]]);
const running = (lastSealed: TabStatus["lastSealed"]): TabStatus => {
  return { state: "running", turnId: turnId("t"), step: 0, waits: [], lastSealed };
};

/** Idempotent by id. An idle owner seals at once and begins a turn. */
export function send(owner: Owner, message: { readonly id: ChunkId; readonly text: string }, off: Off): Act {
  const { text } = message;
  const known = owner.inbox.has(message.id);
  if (known && off !== "server-dedup") return { owner, ops: [] };
  const id = known ? chunkId(`${message.id}-again`) : message.id;
  if (owner.inbox.has(id)) return { owner, ops: [] };
  if (idle(owner)) return sealMessage(owner, { id, text }, off);
  const position = owner.places + 1;
  const queued: QueuedMessage = {
    id,
    version: 1,
    position,
    state: "queued",
    delivery: "steer",
    data: { text },
    by: "client",
    at: 0,
  };
  const next = { ...owner, places: position, queue: [...owner.queue, queued], inbox: withInbox(owner, id, "queued") };
  return { owner: next, ops: [{ op: "message-queued", ...queued }] };
}

/** One transaction: the row appears and the message is gone from the queue. */
function sealMessage(owner: Owner, message: { readonly id: ChunkId; readonly text: string }, off: Off): Act {
  const wasQueued = owner.queue.some((item) => item.id === message.id);
  const id = off === "one-id" && wasQueued ? chunkId(`${message.id}-row`) : message.id;
  const seq = owner.given + 1;
  const row = rowOf({ id, seq, term: owner.term, text: message.text, role: "user" });
  const status = idle(owner) ? running(owner.status.lastSealed) : owner.status;
  const next: Owner = {
    ...owner,
    given: seq,
    rows: [...owner.rows, row],
    queue: owner.queue.filter((item) => item.id !== message.id),
    inbox: withInbox(owner, message.id, "sealed"),
    status,
  };
  const begins: readonly Op[] = idle(owner) ? [{ op: "status", ...status }] : [];
  return { owner: next, ops: [{ op: "chunk-seal", row }, ...begins] };
}

/** A change of a waiting message; one that was made on another version is refused. */
export function edit(
  owner: Owner,
  change: { readonly id: ChunkId; readonly version: number; readonly text: string },
): Act {
  const message = owner.queue.find((item) => item.id === change.id);
  if (message === undefined || message.version !== change.version) return { owner, ops: [] };
  const edited: QueuedMessage = { ...message, version: message.version + 1, data: { text: change.text } };
  const queue = owner.queue.map((item) => (item === message ? edited : item));
  return { owner: { ...owner, queue }, ops: [{ op: "message-queued", ...edited }] };
}

export function cancel(owner: Owner, id: ChunkId, off: Off): Act {
  if (owner.inbox.get(id) !== "queued") return { owner, ops: [] };
  const queue = owner.queue.filter((item) => item.id !== id);
  const next = { ...owner, queue, inbox: withInbox(owner, id, "dropped") };
  return { owner: next, ops: off === "tombstone" ? [] : [{ op: "message-dropped", id, reason: "cancelled" }] };
}

/** A step boundary: the first message that waits becomes a row. */
export function consume(owner: Owner, off: Off): Act {
  const message = owner.queue[0];
  if (message === undefined || idle(owner)) return { owner, ops: [] };
  return sealMessage(owner, { id: message.id, text: message.data.text }, off);
}

// --- a turn --------------------------------------------------------------------------------------------------------

export function openBlock(owner: Owner, name: string, off: Off): Act {
  const id = chunkId(name);
  const early = off === "seq-at-seal";
  const block = {
    id,
    turnId: turnId("t"),
    step: 0,
    index: owner.open.length,
    role: "assistant" as const,
    type: "text" as const,
    at: 0,
  };
  const given = early ? owner.given + 1 : owner.given;
  const open = [...owner.open, { block, text: "", seq: early ? given : null }];
  return { owner: { ...owner, open, given }, ops: [{ op: "chunk-open", ...block }] };
}

export function grow(owner: Owner, at: number): Act {
  const growing = owner.open[at];
  if (growing === undefined) return { owner, ops: [] };
  const offset = growing.text.length;
  const text = alphabet.slice(offset, offset + 1);
  const open = owner.open.map((item) => (item === growing ? { ...item, text: item.text + text } : item));
  return { owner: { ...owner, open }, ops: [{ op: "chunk-delta", id: growing.block.id, offset, text }] };
}

export function seal(owner: Owner, at: number): Act {
  const growing = owner.open[at];
  if (growing === undefined) return { owner, ops: [] };
  const { next, row } = sealed(owner, growing);
  return { owner: next, ops: [{ op: "chunk-seal", row }] };
}

function sealed(owner: Owner, growing: Growing): { readonly next: Owner; readonly row: LogChunk } {
  const seq = growing.seq ?? owner.given + 1;
  const row = rowOf({ id: growing.block.id, seq, term: owner.term, text: growing.text });
  const rows = [...owner.rows, row].sort((a, b) => a.seq - b.seq);
  const open = owner.open.filter((item) => item !== growing);
  return { next: { ...owner, rows, open, given: Math.max(owner.given, seq) }, row };
}

/** An open block never becomes a row: its step is tried anew. */
export function dropBlock(owner: Owner, at: number): Act {
  const growing = owner.open[at];
  if (growing === undefined) return { owner, ops: [] };
  const open = owner.open.filter((item) => item !== growing);
  return { owner: { ...owner, open }, ops: [{ op: "message-dropped", id: growing.block.id, reason: "lost" }] };
}

/** The end of a turn: what is open is sealed, and what waits begins the next one. */
export function endTurn(owner: Owner, off: Off): Act {
  let [next, ops]: [Owner, Op[]] = [owner, []];
  for (const growing of owner.open) {
    const step = sealed(next, growing);
    next = step.next;
    ops = [...ops, { op: "chunk-seal", row: step.row }];
  }
  const status: TabStatus = { ...idleStatus, lastSealed: owner.status.turnId };
  next = { ...next, status };
  const message = next.queue[0];
  if (message === undefined) return { owner: next, ops: [...ops, { op: "status", ...status }] };
  const begun = sealMessage(next, { id: message.id, text: message.data.text }, off);
  return { owner: begun.owner, ops: [...ops, ...begun.ops] };
}

// --- what befalls an owner -----------------------------------------------------------------------------------------

/**
 * A new owner under a new term. Open blocks come back as rows with what had reached the disk, all but the last character;
 * those of which nothing had are lost.
 */
export function takeOver(durable: Durable, open: readonly Growing[], term: number): Owner {
  let owner: Owner = { ...durable, term, n: 0, open, status: idleStatus };
  for (const growing of open) {
    const kept = growing.text.slice(0, -1);
    owner =
      kept === "" ? { ...owner, open: owner.open.filter((item) => item !== growing) } : sealed(owner, growing).next;
    if (kept !== "") owner = { ...owner, rows: owner.rows.map((row) => cutTo(row, growing.block.id, kept)) };
  }
  return { ...owner, open: [] };
}
const cutTo = (row: LogChunk, id: ChunkId, text: string): LogChunk =>
  row.id === id && row.type === "text" ? { ...row, data: { text, partial: true } } : row;

export const durableOf = ({ n: _n, open: _open, status: _status, ...durable }: Owner): Durable => durable;

/** What waits is held when the tab is pointed elsewhere. */
export function holdAll(owner: Owner): Act {
  const queue = owner.queue.map((item) => ({ ...item, state: "held" as const, version: item.version + 1 }));
  return { owner: { ...owner, queue }, ops: queue.map((item) => ({ op: "message-queued", ...item })) };
}

/** The tab points to another log: a fresh one, or the one before. */
export function pointTo(owner: Owner, log: LogId, term: number): Owner {
  const back = owner.former?.log === log ? owner.former : { log, rows: [], given: 0 };
  const former = { log: owner.log, rows: owner.rows, given: owner.given };
  return { ...owner, ...back, former, term, n: 0, open: [], status: { ...idleStatus } };
}
