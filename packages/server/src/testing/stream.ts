/** One event stream for tests: raw events and parsed frames, in order. */
import type { Frame } from "@varve/protocol";
import { parseFrame } from "./frames.ts";

export interface StreamEvent {
  readonly id: string | null;
  readonly data: string | null;
  readonly comment: string | null;
}

export class Stream {
  readonly events: StreamEvent[] = [];
  readonly frames: Frame[] = [];
  ended = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${response.status}`);
    this.#reader = response.body.getReader();
  }

  /** Reads until an event of a frame fits, or the stream ends (null). */
  async next(fits: (frame: Frame) => boolean): Promise<Frame | null> {
    let at = 0;
    for (;;) {
      for (; at < this.frames.length; at++) {
        const frame = this.frames[at];
        if (frame !== undefined && fits(frame)) return frame;
      }
      if (!(await this.read())) return null;
    }
  }

  /** One piece. False at the end. */
  async read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    this.ended = done;
    if (done) return false;
    this.#rest += this.#decoder.decode(value, { stream: true });
    const blocks = this.#rest.split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) this.#event(block);
    return true;
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  #event(block: string): void {
    const field = (name: string): string | null =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2) ?? null;
    const event = { id: field("id"), data: field("data"), comment: field("") };
    this.events.push(event);
    if (event.data !== null) this.frames.push(parseFrame(event.data));
  }
}
