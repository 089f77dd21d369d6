/**
 * A subscription is a cursor: the stamp up to which ops were sent, and for each open block how much of its text. Whatever
 * lies between the cursor and the feed is what the next frame holds, so a slow reader costs no memory: its ticks are
 * skipped and the next frame carries more. If the feed's ring no longer reaches back to the cursor, or its term or log
 * changed, a head is sent instead.
 *
 * Leading edge: when nothing was sent for an interval, a change goes out with the end of the current task; else with the
 * next tick.
 */
import { type Clock, type Frame, limits, type Op, type TabId, type Timer } from "@varve/protocol";
import { frameText } from "../frame-text.ts";
import type { Cursor, TabFeed } from "./tab-feed.ts";
import type { FrameSink, Subscription } from "./workspace-contract.ts";

export interface SubscriptionPorts {
  readonly tab: TabId;
  readonly feed: TabFeed;
  readonly sink: FrameSink;
  readonly clock: Clock;
  /** Sends a new head on this subscription and then calls `release`. */
  readonly sendHead: (subscription: TabSubscription) => void;
  readonly closed: (subscription: TabSubscription) => void;
}

type OutputOp = Extract<Op, { op: "output" }>;
const none: readonly OutputOp[] = [];

export class TabSubscription implements Subscription {
  readonly #ports: SubscriptionPorts;
  #cursor: Cursor;
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
  /** A frame was not made because too much waited: what is owed goes out once there is room. */
  #skipped = false;
  readonly #unlisten: () => void;
  readonly #atEdge = (): void => {
    this.#flushAsked = false;
    this.#flush();
  };
  readonly #atTick = (): void => {
    this.#timer = null;
    this.#flush();
  };

  constructor(ports: SubscriptionPorts, focused: boolean) {
    this.#ports = ports;
    this.#focused = focused;
    this.#cursor = ports.feed.here();
    this.#unlisten = ports.feed.onChange(() => this.#changed());
  }

  get tab(): TabId {
    return this.#ports.tab;
  }
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Sets the cursor at what a head shows; nothing is sent until `release`. Called in the tick of the capture. */
  hold(start: Cursor): void {
    this.#held = true;
    this.#cursor = start;
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
    if (!focused) return;
    // What waits for the long interval of the background waits no longer; a skipped frame waits for room and not for this.
    if (!this.#skipped) {
      this.#timer?.cancel();
      this.#timer = null;
    }
    this.#changed();
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#flush();
  }

  drained(): void {
    if (!this.#skipped) return;
    this.#skipped = false;
    this.#timer?.cancel();
    this.#timer = null;
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
      this.#ports.feed.edge.wait(this.#atEdge);
    } else {
      const { clock, feed } = this.#ports;
      const tick = this.#focused ? feed.ticks.focused : feed.ticks.background;
      this.#timer = tick.wait(clock, interval - since, this.#atTick);
    }
  }

  #flush(): void {
    const { feed, sink } = this.#ports;
    if (this.#closed || this.#held) return;
    const buffered = sink.buffered();
    if (buffered > limits.socketBufferCloseBytes) {
      sink.closeSlow();
      return;
    }
    const shared = feed.frameFrom(this.#cursor, this.#ports.tab);
    if (shared === null) {
      this.#held = true;
      this.#ports.sendHead(this);
      return;
    }
    const outputs = this.#outputsDue();
    const frame = outputs.length === 0 ? shared : { ...shared, ops: [...shared.ops, ...outputs] };
    if (frame.ops.length === 0) return;
    // Back-pressure is nothing but this: with bytes still waiting, a frame that would pass the bound is not sent now.
    this.#skipped = buffered > 0 && buffered + frameText(frame).length > limits.socketBufferSkipBytes;
    if (this.#skipped) {
      this.#retryLater();
      return;
    }
    this.#cursor = feed.here();
    if (outputs.length > 0) this.#told(outputs);
    this.send(frame);
  }

  #retryLater(): void {
    this.#timer = this.#ports.clock.setTimer(limits.backgroundIntervalMs, this.#atTick);
  }

  #outputsDue(): readonly OutputOp[] {
    const { outputs } = this.#ports.feed;
    if (outputs.size === 0 && this.#outputs.size === 0) return none;
    for (const callId of this.#outputs.keys()) if (!outputs.has(callId)) this.#outputs.delete(callId);
    if (outputs.size === 0) return none;
    const now = this.#ports.clock.now();
    const due = Math.abs(now - this.#outputAt) >= limits.outputIntervalMs;
    const news = [...outputs.values()].filter(({ callId, bytes }) => this.#outputs.get(callId) !== bytes);
    if (news.length > 0 && !due) this.#afterOutputInterval(now);
    return due ? news.map((output) => ({ op: "output", ...output })) : none;
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

  #told(outputs: readonly OutputOp[]): void {
    for (const { callId, bytes } of outputs) this.#outputs.set(callId, bytes);
    this.#outputAt = this.#ports.clock.now();
  }
}
