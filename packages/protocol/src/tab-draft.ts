import type { LogChunk } from "./chunk.ts";
import type { ChunkId, LogId } from "./ids.ts";
import type { ChunkDelta, Op, OutputOp, TabStatus } from "./op.ts";
import { compareStamps, type Stamp } from "./order.ts";
import { joinRows, type OpenCell, type QueuedCell, type RowCell, type SealedCell } from "./row.ts";
import type { LiveOutputState, TabState } from "./tab-state.ts";
import { unreachable } from "./unreachable.ts";

/** One step of change. Each part is copied at most once, when it first changes. */
export class TabDraft {
  readonly #from: TabState;
  readonly #keep: (row: LogChunk) => boolean;
  #queue: Map<ChunkId, QueuedCell> | undefined;
  #open: Map<ChunkId, OpenCell> | undefined;
  #sealed: Map<ChunkId, SealedCell> | undefined;
  #outputs: Map<string, LiveOutputState> | undefined;
  #status: TabStatus;
  #nextLogId: LogId | null;
  #tail: number;

  constructor(from: TabState, keep: (row: LogChunk) => boolean) {
    this.#from = from;
    this.#keep = keep;
    this.#status = from.status;
    this.#nextLogId = from.nextLogId;
    this.#tail = from.tail;
  }

  put(op: Op, at: Stamp): void {
    switch (op.op) {
      case "chunk-open": {
        const { op: _op, ...block } = op;
        this.#join({ state: "open", id: op.id, block, text: "", at });
        break;
      }
      case "chunk-seal":
        this.seal(op.row);
        break;
      case "message-queued": {
        const { op: _op, ...message } = op;
        this.#join({ state: "queued", id: op.id, message, at });
        break;
      }
      case "message-dropped":
        this.#join({ state: "dropped", id: op.id, reason: op.reason, at });
        break;
      case "status": {
        const { op: _op, ...status } = op;
        this.#status = status;
        break;
      }
      case "log":
        this.#nextLogId = op.logId;
        break;
      case "chunk-delta":
      case "output":
        break;
      default:
        // An op of a later minor version keeps its stamp and says nothing to this one.
        op satisfies never;
    }
  }

  seal(row: LogChunk): void {
    this.#tail = Math.max(this.#tail, row.seq);
    this.#join({ state: "sealed", id: row.id, row });
    if (row.type !== "tool_result" || !this.#outputsNow().has(row.data.callId)) return;
    this.#outputs ??= new Map(this.#from.outputs);
    this.#outputs.delete(row.data.callId);
  }

  /** False when text is missing before the delta. A delta of a block that is not open says nothing any more. */
  grow(delta: ChunkDelta): boolean {
    const cell = this.#openNow().get(delta.id);
    if (cell === undefined) return true;
    const length = cell.text.length;
    if (delta.offset > length) return false;
    if (delta.offset + delta.text.length <= length) return true;
    this.#open ??= new Map(this.#from.open);
    this.#open.set(cell.id, { ...cell, text: cell.text + delta.text.slice(length - delta.offset) });
    return true;
  }

  /** Counts of bytes only grow, so the larger one is the later one. */
  output(op: OutputOp): void {
    if ((this.#outputsNow().get(op.callId)?.bytes ?? -1) >= op.bytes) return;
    this.#outputs ??= new Map(this.#from.outputs);
    this.#outputs.set(op.callId, { callId: op.callId, bytes: op.bytes, tail: op.tail });
  }

  /** The changed state, or the very one it began with when nothing changed. */
  done(version: Stamp): TabState {
    const from = this.#from;
    const next: TabState = {
      ...from,
      version: compareStamps(version, from.version) === 0 ? from.version : version,
      seen: compareStamps(version, from.seen) > 0 ? version : from.seen,
      nextLogId: this.#nextLogId,
      queue: this.#queue ?? from.queue,
      open: this.#open ?? from.open,
      sealed: this.#sealed ?? from.sealed,
      tail: this.#tail,
      status: this.#status,
      outputs: this.#outputs ?? from.outputs,
    };
    const same = this.#queue ?? this.#open ?? this.#sealed ?? this.#outputs;
    const still = next.version === from.version && next.tail === from.tail && next.status === from.status;
    return same === undefined && still && next.nextLogId === from.nextLogId ? from : next;
  }

  #openNow(): ReadonlyMap<ChunkId, OpenCell> {
    return this.#open ?? this.#from.open;
  }

  #outputsNow(): ReadonlyMap<string, LiveOutputState> {
    return this.#outputs ?? this.#from.outputs;
  }

  #cell(id: ChunkId): RowCell | undefined {
    const sealed = this.#sealed ?? this.#from.sealed;
    return this.#openNow().get(id) ?? (this.#queue ?? this.#from.queue).get(id) ?? sealed.get(id);
  }

  /** Joins what was said with what is held, and puts the result where its state belongs. */
  #join(said: RowCell): void {
    const held = this.#cell(said.id);
    const cell = held === undefined ? said : joinRows(held, said);
    if (cell === held) return;
    if (held?.state === "queued" && cell.state !== "queued") {
      this.#queue ??= new Map(this.#from.queue);
      this.#queue.delete(said.id);
    } else if (held?.state === "open" && cell.state !== "open") {
      this.#open ??= new Map(this.#from.open);
      this.#open.delete(said.id);
    }
    this.#place(cell);
  }

  /** A dropped cell needs no place: what is at or below the version is known, so nothing can bring the id back. */
  #place(cell: RowCell): void {
    switch (cell.state) {
      case "queued":
        this.#queue ??= new Map(this.#from.queue);
        this.#queue.set(cell.id, cell);
        break;
      case "open":
        this.#open ??= new Map(this.#from.open);
        this.#open.set(cell.id, cell);
        break;
      case "sealed":
        if (!this.#keep(cell.row)) return;
        this.#sealed ??= new Map(this.#from.sealed);
        this.#sealed.set(cell.id, cell);
        break;
      case "pending":
      case "dropped":
        break;
      default:
        unreachable(cell);
    }
  }
}
