/**
 * Reads every frame as it leaves the server and holds it against the disk: nothing is told before it is durable, and what is
 * told is what was written. What the texts of open blocks are is learnt here, for nobody else is told.
 */
import { decodeFrame } from "@varve/client";
import {
  type AckFrame,
  type ChunkId,
  type HeadFrame,
  type LogChunk,
  type LogId,
  type Op,
  type QueuedMessage,
  unreachable,
} from "@varve/protocol";
import { rowText, type Truth } from "./truth.ts";
import { must } from "./violation.ts";

export class FrameJudge {
  /** The longest text that was told of each open block. */
  readonly texts = new Map<ChunkId, string>();
  readonly #truth: () => Truth;

  constructor(truth: () => Truth) {
    this.#truth = truth;
  }

  sent(text: string): void {
    const frame = decodeFrame(text);
    must(frame !== null, "frames", () => `a frame cannot be read: ${text.slice(0, 200)}`);
    switch (frame.type) {
      case "head":
        this.#head(frame);
        return;
      case "ops":
        for (const op of frame.ops) this.#op(frame.log, op);
        return;
      case "ack":
        this.#ack(frame);
        return;
      case "hello":
      case "err":
      case "ping":
      case "bye":
      case "workspace":
        return;
      default:
        unreachable(frame);
    }
  }

  /** The row as the disk has it at that place, whoever tells of it. */
  row(logId: LogId, row: LogChunk, who: string): void {
    const owner = this.#truth().ownerOf(logId, row.seq) ?? logId;
    const known = this.#truth().ever.rows.get(`${owner}/${row.seq}/${row.term}`);
    must(known !== undefined, "S3", () => `${who}: row ${row.id} at ${row.seq} of ${logId} was never written`);
    must(known === rowText(row), "rows", () => `${who}: row ${row.seq} is ${rowText(row)}, written was ${known}`);
  }

  #head(head: HeadFrame): void {
    for (const row of head.rows) this.row(head.log, row, "head");
    for (const message of head.queue) this.#queued(message);
    for (const block of head.open) this.#grew(block.id, block.offset, block.text);
    const tail = this.#truth().tailOf(head.log);
    must(head.tail <= tail, "S3", () => `a head tells of ${head.tail} rows, ${tail} are written`);
  }

  #op(logId: LogId, op: Op): void {
    switch (op.op) {
      case "chunk-seal":
        this.row(logId, op.row, "seal");
        return;
      case "message-queued":
        this.#queued(op);
        return;
      case "message-dropped": {
        if (op.reason === "lost") return;
        const state = this.#truth().inbox.get(op.id)?.state;
        must(state === "dropped", "S3", () => `${op.id} is told to be cancelled, it is ${state}`);
        return;
      }
      case "chunk-delta":
        this.#grew(op.id, op.offset, op.text);
        return;
      case "chunk-open":
      case "status":
      case "log":
      case "output":
        return;
      default:
        unreachable(op);
    }
  }

  #queued({ id, version, data }: QueuedMessage): void {
    const text = this.#truth().ever.messages.get(`${id}/${version}`);
    must(text !== undefined, "S3", () => `version ${version} of ${id} is told and not written`);
    must(text === data.text, "S3", () => `version ${version} of ${id} is told as "${data.text}", it is "${text}"`);
  }

  #grew(id: ChunkId, offset: number, text: string): void {
    const known = this.texts.get(id) ?? "";
    must(offset <= known.length, "texts", () => `block ${id} is told from ${offset} on, known to ${known.length}`);
    const again = known.slice(offset, offset + text.length);
    must(text.startsWith(again), "texts", () => `block ${id} was "${again}" at ${offset}, now "${text}"`);
    if (offset + text.length > known.length) this.texts.set(id, known.slice(0, offset) + text);
  }

  /** An accepted message is there, in the state that is told or in one that comes after it. */
  #ack({ id, state }: AckFrame): void {
    if (id === undefined || state === "done") return;
    const now = this.#truth().inbox.get(id)?.state;
    const atLeast = { queued: true, held: true, sealed: now === "sealed", dropped: now === "dropped" }[state];
    must(now !== undefined && atLeast, "S3", () => `${id} is acknowledged as ${state}, on the disk it is ${now}`);
  }
}
