/**
 * One direction of a connection through the proxy: bytes are read from one socket, held as the rule says, and written to the
 * other, in order. Nothing is ever lost from the middle: TCP does not do that either. Once a line has swallowed a byte it
 * passes none again, and only cutting the connection helps.
 */
import type { Socket } from "node:net";
import { assert, type Clock, type Timer, unreachable } from "@varve/protocol";

export type Flow =
  | { readonly kind: "pass" }
  /** Each piece arrives so much later, in order. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Nothing is read, so the sender feels a full pipe: a reader that has stopped. Whoever waits for the rest waits. */
  | { readonly kind: "stall" }
  /** At most so many bytes are read in each `everyMs`: a slow reader. */
  | { readonly kind: "throttle"; readonly bytes: number; readonly everyMs: number }
  /** Read and thrown away, also the ends of streams: half of the connection is dead, and nobody is told. */
  | { readonly kind: "swallow" }
  /** Passes so many bytes more, then both sockets are reset, wherever in a frame that is. */
  | { readonly kind: "cut-after"; readonly bytes: number };

export interface LinePorts {
  readonly from: Socket;
  readonly to: Socket;
  readonly clock: Clock;
  /** Resets the whole connection. */
  readonly cut: () => void;
}

/** Bytes that a delayed line holds before it stops reading: a long delay must not fill the memory. */
const heldMax = 4 * 1024 * 1024;

export class Line {
  passed = 0;
  readonly #ports: LinePorts;
  #flow: Flow = { kind: "pass" };
  /** Delayed pieces, oldest first. */
  readonly #pieces: Buffer[] = [];
  #held = 0;
  #left = 0;
  #swallowed = false;
  #ended = false;
  readonly #timers = new Set<Timer>();

  constructor(ports: LinePorts) {
    this.#ports = ports;
    const { from, to } = ports;
    from.on("data", (bytes: Buffer) => this.#take(bytes));
    from.on("end", () => this.#end());
    to.on("drain", () => this.#readOn());
  }

  get flow(): Flow {
    return this.#flow;
  }
  /** Bytes were thrown away: this direction is dead for good. */
  get broken(): boolean {
    return this.#swallowed;
  }

  set(flow: Flow): void {
    if (this.#swallowed) return;
    // What was under way arrives before anything that comes under the new rule.
    this.#cancelTimers();
    while (this.#pieces.length > 0) this.#writeNext();
    this.#flow = flow;
    if (flow.kind === "throttle" || flow.kind === "cut-after") this.#left = flow.bytes;
    if (flow.kind === "throttle") this.#refill(flow);
    this.#readOn();
  }

  close(): void {
    this.#cancelTimers();
  }

  #cancelTimers(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #take(bytes: Buffer): void {
    const flow = this.#flow;
    switch (flow.kind) {
      case "pass":
        this.#write(bytes);
        return;
      case "stall":
        // Read before the rule came, or pushed back: it waits with what the system holds.
        this.#ports.from.pause();
        this.#ports.from.unshift(bytes);
        return;
      case "swallow":
        this.#swallowed = true;
        return;
      case "delay":
        this.#writeIn(flow.ms, bytes);
        return;
      case "throttle":
        this.#takePart(bytes);
        return;
      case "cut-after":
        this.#write(bytes.subarray(0, this.#left));
        this.#left -= bytes.length;
        if (this.#left <= 0) this.#ports.cut();
        return;
      default:
        unreachable(flow);
    }
  }

  #takePart(bytes: Buffer): void {
    const part = bytes.subarray(0, this.#left);
    const rest = bytes.subarray(this.#left);
    this.#left -= part.length;
    if (rest.length > 0) {
      this.#ports.from.pause();
      this.#ports.from.unshift(rest);
    }
    this.#write(part);
  }

  #refill(flow: Extract<Flow, { kind: "throttle" }>): void {
    assert(flow.everyMs > 0, "a throttled line refills at intervals");
    this.#in(flow.everyMs, () => {
      if (this.#flow !== flow) return;
      this.#left = flow.bytes;
      this.#readOn();
      this.#refill(flow);
    });
  }

  #writeIn(ms: number, bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    if (this.#held > heldMax) this.#ports.from.pause();
    this.#in(ms, () => {
      this.#writeNext();
      this.#readOn();
    });
  }

  #writeNext(): void {
    const bytes = this.#pieces.shift();
    if (bytes === undefined) return;
    this.#held -= bytes.length;
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    const { from, to } = this.#ports;
    if (bytes.length === 0 || to.destroyed || to.writableEnded) return;
    this.passed += bytes.length;
    if (!to.write(bytes)) from.pause();
  }

  /** Reading goes on where the rule and both ends allow it. */
  #readOn(): void {
    const { from, to } = this.#ports;
    const full = this.#flow.kind === "stall" || (this.#flow.kind === "throttle" && this.#left <= 0);
    if (full) from.pause();
    else if (!to.writableNeedDrain && this.#held <= heldMax) from.resume();
  }

  #end(): void {
    if (this.#flow.kind === "swallow") {
      this.#swallowed = true;
      return;
    }
    this.#ended = true;
    this.#endWhenEmpty();
  }

  #endWhenEmpty(): void {
    const { to } = this.#ports;
    if (this.#ended && this.#held === 0 && !to.writableEnded && !to.destroyed) to.end();
  }

  #in(ms: number, act: () => void): void {
    const timer = this.#ports.clock.setTimer(ms, () => {
      this.#timers.delete(timer);
      act();
      this.#endWhenEmpty();
    });
    this.#timers.add(timer);
  }
}
