/**
 * A subscription is a cursor: the stamp up to which ops were sent, and for each open block how much of its text. Whatever
 * lies between the cursor and the feed is what the next frame holds, so a slow reader costs no memory: its ticks are
 * skipped and the next frame carries more. If the feed's ring no longer reaches back to the cursor, or its term or log
 * changed, a head is sent instead.
 *
 * Leading edge: when nothing was sent for an interval, a change goes out with the end of the current task; else with the
 * next tick.
 */
import {
  type ChunkId,
  type Clock,
  type Frame,
  type LogId,
  limits,
  type Op,
  type TabId,
  type Timer,
} from "@varve/protocol";
import type { TabFeed } from "./tab-feed.ts";
import type { FrameSink, Subscription } from "./workspace-contract.ts";

/** What a head told: from here on the cursor counts. */
export interface CursorStart {
  readonly log: LogId;
  readonly term: number;
  readonly n: number;
  /** Per open block: the length of text that the head gave. */
  readonly offsets: ReadonlyMap<ChunkId, number>;
}

export interface SubscriptionPorts {
  readonly tab: TabId;
  readonly feed: TabFeed;
  readonly sink: FrameSink;
  readonly clock: Clock;
  /** Sends a new head on this subscription and then calls `release`. */
  readonly sendHead: (subscription: TabSubscription) => void;
  readonly closed: (subscription: TabSubscription) => void;
}

/** How much of a growing text is told: a lone first half of a surrogate pair stays behind until its second half is there. */
export function wholeEnd(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

export class TabSubscription implements Subscription {
  readonly #ports: SubscriptionPorts;
  #log: LogId;
  #term = -1;
  #n = 0;
  #offsets = new Map<ChunkId, number>();
  /** Output registers sent, by call: the bytes they told. */
  #outputs = new Map<string, number>();
  #outputAt = 0;
  #held = true;
  #closed = false;
  #focused: boolean;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #outputTimer: Timer | null = null;
  #flushAsked = false;
  readonly #unlisten: () => void;

  constructor(ports: SubscriptionPorts, focused: boolean) {
    this.#ports = ports;
    this.#focused = focused;
    this.#log = ports.feed.logId;
    this.#unlisten = ports.feed.onChange(() => this.#changed());
  }

  get tab(): TabId {
    return this.#ports.tab;
  }
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Sets the cursor at what a head shows; nothing is sent until `release`. Called in the tick of the capture. */
  hold(start: CursorStart): void {
    this.#held = true;
    this.#log = start.log;
    this.#term = start.term;
    this.#n = start.n;
    this.#offsets = new Map(start.offsets);
    this.#outputs = new Map([...this.#ports.feed.outputs].map(([callId, output]) => [callId, output.bytes]));
  }

  release(): void {
    this.#held = false;
    this.#changed();
  }

  send(frame: Frame): void {
    if (this.#closed) return;
    this.#sentAt = this.#ports.clock.now();
    this.#ports.sink.send(frame);
  }

  focus(focused: boolean): void {
    this.#focused = focused;
    if (focused) this.#changed();
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#flush();
  }

  drained(): void {
    this.#changed();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#outputTimer?.cancel();
    this.#unlisten();
    this.#ports.closed(this);
  }

  #changed(): void {
    if (this.#closed || this.#held || this.#timer !== null || this.#flushAsked) return;
    const interval = this.#focused ? limits.focusedIntervalMs : limits.backgroundIntervalMs;
    const since = this.#ports.clock.now() - this.#sentAt;
    // A clock that was set back must not silence the subscription: the wait is never longer than one interval.
    if (since >= interval || since < 0) {
      this.#flushAsked = true;
      queueMicrotask(() => {
        this.#flushAsked = false;
        this.#flush();
      });
    } else {
      this.#timer = this.#ports.clock.setTimer(interval - since, () => {
        this.#timer = null;
        this.#flush();
      });
    }
  }

  #flush(): void {
    const { feed, sink } = this.#ports;
    if (this.#closed || this.#held) return;
    if (sink.buffered() > limits.socketBufferCloseBytes) {
      sink.closeSlow();
      return;
    }
    const counted = feed.term === this.#term && feed.logId === this.#log ? feed.since(this.#n) : null;
    if (counted === null) {
      this.#held = true;
      this.#ports.sendHead(this);
      return;
    }
    const ops = this.#collect(counted);
    if (ops.length === 0) return;
    const frame: Frame = {
      type: "ops",
      tab: this.#ports.tab,
      log: this.#log,
      term: this.#term,
      a: this.#n + 1,
      b: feed.n,
      ops,
    };
    if (this.#mustSkip(frame)) {
      this.#retryLater();
      return;
    }
    this.#advance(counted, ops);
    this.send(frame);
  }

  /** Back-pressure is nothing but this: with bytes still waiting, a frame that would pass the bound is not made now. */
  #mustSkip(frame: Frame): boolean {
    const buffered = this.#ports.sink.buffered();
    if (buffered === 0) return false;
    return buffered + JSON.stringify(frame).length > limits.socketBufferSkipBytes;
  }

  #retryLater(): void {
    this.#timer = this.#ports.clock.setTimer(limits.backgroundIntervalMs, () => {
      this.#timer = null;
      this.#flush();
    });
  }

  #collect(counted: readonly Op[]): Op[] {
    const ops: Op[] = [...counted];
    for (const [id, entry] of this.#ports.feed.open) {
      const offset = this.#offsets.get(id) ?? 0;
      const end = wholeEnd(entry.text);
      if (end > offset) ops.push({ op: "chunk-delta", id, offset, text: entry.text.slice(offset, end) });
    }
    const now = this.#ports.clock.now();
    const due = Math.abs(now - this.#outputAt) >= limits.outputIntervalMs;
    for (const [callId, output] of this.#ports.feed.outputs) {
      if (this.#outputs.get(callId) === output.bytes) continue;
      if (due) ops.push({ op: "output", ...output });
      else this.#afterOutputInterval(now);
    }
    return ops;
  }

  /** A register that is held back by its own rate goes out when its interval is over. */
  #afterOutputInterval(now: number): void {
    if (this.#outputTimer !== null) return;
    this.#outputTimer = this.#ports.clock.setTimer(
      Math.max(1, limits.outputIntervalMs - (now - this.#outputAt)),
      () => {
        this.#outputTimer = null;
        this.#changed();
      },
    );
  }

  #advance(counted: readonly Op[], ops: readonly Op[]): void {
    this.#n = this.#ports.feed.n;
    for (const op of counted) {
      if (op.op === "chunk-seal") this.#offsets.delete(op.row.id);
      if (op.op === "message-dropped") this.#offsets.delete(op.id);
    }
    for (const op of ops) {
      if (op.op === "chunk-delta") this.#offsets.set(op.id, op.offset + op.text.length);
      if (op.op !== "output") continue;
      this.#outputs.set(op.callId, op.bytes);
      this.#outputAt = this.#ports.clock.now();
    }
    for (const callId of this.#outputs.keys()) {
      if (!this.#ports.feed.outputs.has(callId)) this.#outputs.delete(callId);
    }
  }
}
