import { type ChunkId, type Frame, type LogId, limits, type Op, type TabId } from "@varve/protocol";
import { createFakeClock, type FakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { TabFeed } from "./tab-feed.ts";
import { TabSubscription } from "./tab-subscription.ts";

// Literals of the right shape stand for ids here.
const tab = "T" as TabId;
const log = "L" as LogId;
const block = (id: string): Extract<Op, { op: "chunk-open" }> => ({
  op: "chunk-open",
  id: id as ChunkId,
  turnId: "t1" as never,
  step: 0,
  index: 0,
  role: "assistant",
  type: "text",
  at: 0,
});

interface Rig {
  readonly clock: FakeClock;
  readonly feed: TabFeed;
  readonly subscription: TabSubscription;
  readonly frames: Frame[];
  readonly heads: () => number;
  readonly slow: () => number;
  buffered: number;
}

function rig(focused = true): Rig {
  const clock = createFakeClock();
  const feed = new TabFeed(log, 7);
  const frames: Frame[] = [];
  let heads = 0;
  let slow = 0;
  const made: { buffered: number } = { buffered: 0 };
  const subscription: TabSubscription = new TabSubscription(
    {
      tab,
      feed,
      clock,
      closed: () => {},
      sink: { send: (frame) => frames.push(frame), buffered: () => made.buffered, closeSlow: () => slow++ },
      sendHead: () => {
        heads++;
      },
    },
    focused,
  );
  subscription.hold({ log, term: 7, n: feed.n, offsets: new Map() });
  subscription.release();
  return Object.assign(made, { clock, feed, subscription, frames, heads: () => heads, slow: () => slow });
}

/** One more reader of a feed, told everything up to now. */
function reader(feed: TabFeed, clock: FakeClock, focused = true): Frame[] {
  const frames: Frame[] = [];
  const sink = { send: (frame: Frame) => frames.push(frame), buffered: () => 0, closeSlow: () => {} };
  const ports = { tab, feed, clock, sink, closed: () => {}, sendHead: () => {} };
  const subscription = new TabSubscription(ports, focused);
  subscription.hold(feed.here());
  subscription.release();
  return frames;
}

const textOf = (frames: readonly Frame[]): string =>
  frames
    .flatMap((frame) => (frame.type === "ops" ? frame.ops : []))
    .map((op) => (op.op === "chunk-delta" ? op.text : ""))
    .join("");

describe("a subscription is a cursor", () => {
  test("[HUB-1] the first change after a quiet interval goes out with the end of the task", async () => {
    const { feed, frames } = rig();
    feed.publish(block("A"));
    feed.grow("A" as ChunkId, "He");
    feed.grow("A" as ChunkId, "llo");
    expect(frames).toHaveLength(0);
    await Promise.resolve();
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({ type: "ops", term: 7, a: 1, b: 1 });
    expect(textOf(frames)).toBe("Hello");
  });

  test.each([
    [true, limits.focusedIntervalMs],
    [false, limits.backgroundIntervalMs],
  ])("[HUB-1] further changes wait for the tick: focused %s, %i ms", async (focused, interval) => {
    const { feed, frames, clock } = rig(focused);
    feed.publish(block("A"));
    await clock.advance(0);
    for (const text of ["a", "b", "c"]) feed.grow("A" as ChunkId, text);
    await clock.advance(interval - 1);
    expect(frames).toHaveLength(1);
    await clock.advance(1);
    expect(frames).toHaveLength(2);
    expect(frames[1]).toMatchObject({ a: 2, b: 1 });
    expect(textOf(frames)).toBe("abc");
  });

  test("[HUB-12] focus changes the interval at once, in both directions, and brings no head", async () => {
    const { feed, frames, clock, subscription, heads } = rig(false);
    feed.publish(block("A"));
    await clock.advance(0);
    feed.grow("A" as ChunkId, "a");
    await clock.advance(limits.focusedIntervalMs);
    expect(frames).toHaveLength(1);
    subscription.focus(true);
    await clock.advance(0);
    expect(textOf(frames)).toBe("a");
    feed.grow("A" as ChunkId, "b");
    await clock.advance(limits.focusedIntervalMs);
    expect(textOf(frames)).toBe("ab");
    subscription.focus(false);
    feed.grow("A" as ChunkId, "c");
    await clock.advance(limits.backgroundIntervalMs - 1);
    expect(textOf(frames)).toBe("ab");
    await clock.advance(1);
    expect(textOf(frames)).toBe("abc");
    expect(heads()).toBe(0);
    subscription.close();
    expect(clock.pending()).toBe(0);
  });

  test("[HUB-12] focus makes no frame for a reader that has no room", async () => {
    const made = rig(false);
    made.feed.publish(block("A"));
    await made.clock.advance(0);
    made.buffered = limits.socketBufferSkipBytes;
    made.feed.grow("A" as ChunkId, "a");
    await made.clock.advance(limits.backgroundIntervalMs);
    made.subscription.focus(true);
    await made.clock.advance(limits.focusedIntervalMs);
    expect(made.frames).toHaveLength(1);
    made.buffered = 0;
    await made.clock.advance(limits.backgroundIntervalMs);
    expect(textOf(made.frames)).toBe("a");
  });

  test("[HUB-1] a clock that was set back does not silence it", async () => {
    const { feed, frames, clock } = rig();
    feed.publish(block("A"));
    await clock.advance(0);
    clock.jump(-3_600_000);
    feed.grow("A" as ChunkId, "x");
    await clock.advance(limits.focusedIntervalMs);
    expect(textOf(frames)).toBe("x");
  });

  test("[HUB-2] what a slow reader missed comes as one frame, and costs no queue", async () => {
    const made = rig();
    const { feed, frames, clock } = made;
    feed.publish(block("A"));
    await clock.advance(0);
    made.buffered = limits.socketBufferSkipBytes;
    for (let i = 0; i < 500; i++) {
      feed.grow("A" as ChunkId, "0123456789");
      await clock.advance(10);
    }
    expect(frames).toHaveLength(1);
    made.buffered = 0;
    await clock.advance(limits.backgroundIntervalMs);
    expect(frames).toHaveLength(2);
    expect(textOf(frames)).toHaveLength(5_000);
  });

  test("[HUB-2] a frame alone is always allowed, however large", async () => {
    const { feed, frames, clock } = rig();
    feed.publish(block("A"));
    feed.grow("A" as ChunkId, "x".repeat(limits.socketBufferSkipBytes * 2));
    await clock.advance(0);
    expect(textOf(frames)).toHaveLength(limits.socketBufferSkipBytes * 2);
  });

  test("[HUB-3] a reader that does not read at all is closed as slow", async () => {
    const made = rig();
    made.buffered = limits.socketBufferCloseBytes + 1;
    made.feed.publish(block("A"));
    await made.clock.advance(limits.backgroundIntervalMs);
    expect(made.slow()).toBe(1);
    expect(made.frames).toHaveLength(0);
  });

  test("[HUB-4] a cursor that fell off the ring gets a head", async () => {
    const made = rig();
    const { feed, clock } = made;
    feed.publish(block("A"));
    await clock.advance(0);
    for (let i = 0; i <= limits.ringOpsMax; i++) feed.publish({ op: "status", ...feed.status });
    await clock.advance(limits.focusedIntervalMs);
    expect(made.heads()).toBe(1);
    expect(made.frames).toHaveLength(1);
  });

  test("[HUB-15] a tab at rest keeps no ops, whoever looks at it: a reader who was told everything goes on without a head", async () => {
    const { feed, frames, clock, heads } = rig();
    feed.publish(block("A"));
    await clock.advance(0);
    feed.rest();
    expect(feed.since(feed.n - 1)).toBeNull();
    feed.grow("A" as ChunkId, "abc");
    await clock.advance(limits.focusedIntervalMs);
    feed.publish(block("B"));
    await clock.advance(limits.focusedIntervalMs);
    expect(heads()).toBe(0);
    const ops = frames.flatMap((frame) => (frame.type === "ops" ? frame.ops : []));
    expect(ops.map((op) => op.op)).toEqual(["chunk-open", "chunk-delta", "chunk-open"]);
  });

  test("[HUB-15] one who was still owed something when the tab came to rest gets a head", async () => {
    const made = rig();
    made.buffered = limits.socketBufferSkipBytes + 1;
    made.feed.publish(block("A"));
    await made.clock.advance(0);
    made.feed.rest();
    made.buffered = 0;
    made.subscription.drained();
    await made.clock.advance(limits.focusedIntervalMs);
    expect([made.frames.length, made.heads()]).toEqual([0, 1]);
  });

  test("[HUB-4] another term or log gets a head", async () => {
    const made = rig();
    made.feed.restart("L2" as LogId, 8, []);
    await made.clock.advance(0);
    expect(made.heads()).toBe(1);
  });

  test("[HUB-5] text of a block that sealed before its tick is never sent as deltas", async () => {
    const { feed, frames, clock } = rig();
    feed.publish(block("A"));
    await clock.advance(0);
    feed.grow("A" as ChunkId, "abc");
    const row = { id: "A", tabId: tab, seq: 1, term: 7, turnId: "t1", step: 0, role: "assistant", type: "text" };
    feed.publish({ op: "chunk-seal", row: { ...row, createdAt: 0, data: { text: "abc" } } as never });
    await clock.advance(limits.focusedIntervalMs);
    const ops = frames.flatMap((frame) => (frame.type === "ops" ? frame.ops : []));
    expect(ops.map((op) => op.op)).toEqual(["chunk-open", "chunk-seal"]);
  });

  test("[HUB-6] a surrogate pair is never split between two deltas", async () => {
    const { feed, frames, clock } = rig();
    feed.publish(block("A"));
    feed.grow("A" as ChunkId, "a\ud83d");
    await clock.advance(0);
    expect(textOf(frames)).toBe("a");
    feed.grow("A" as ChunkId, "\ude00b");
    await clock.advance(limits.focusedIntervalMs);
    expect(textOf(frames)).toBe("a😀b");
    const last = frames.at(-1);
    expect(last?.type === "ops" && last.ops[0]).toMatchObject({ op: "chunk-delta", offset: 1, text: "😀b" });
  });

  test("[HUB-7] live output past its limit is a register: renewed at most four times a second, last wins", async () => {
    const { feed, frames, clock } = rig();
    for (let i = 1; i <= 100; i++) {
      feed.setOutput({ callId: "c", bytes: i, tail: String(i) });
      await clock.advance(10);
    }
    const outputs = frames
      .flatMap((frame) => (frame.type === "ops" ? frame.ops : []))
      .filter((op) => op.op === "output");
    expect(outputs.length).toBeLessThanOrEqual(5);
    await clock.advance(limits.outputIntervalMs);
    const last = frames.at(-1);
    expect(last?.type === "ops" && last.ops.at(-1)).toMatchObject({ op: "output", bytes: 100 });
  });

  test("[HUB-11] readers who were told the same get one frame, whenever they came; others get their own", async () => {
    const { feed, clock, frames: first } = rig();
    const read = (): Frame[] => reader(feed, clock);
    feed.publish(block("A"));
    feed.grow("A" as ChunkId, "to");
    // This one stands where the feed stands; the first was told nothing yet.
    const late = read();
    await clock.advance(limits.focusedIntervalMs);
    feed.grow("A" as ChunkId, "gether");
    await clock.advance(limits.focusedIntervalMs);
    expect([textOf(first), textOf(late)]).toEqual(["together", "gether"]);
    expect(first.at(-1)).toBe(late.at(-1));
    expect(late).toHaveLength(1);
  });

  test("[HUB-13] readers who came at different moments are told on one tick, those in the background on their own", async () => {
    const { feed, clock, frames: first } = rig();
    const others: Frame[][] = [];
    feed.publish(block("A"));
    for (let at = 0; at < 5; at++) {
      await clock.advance(7);
      others.push(reader(feed, clock));
      feed.grow("A" as ChunkId, "x");
    }
    const away = reader(feed, clock, false);
    const counts = (): number[] => [first, ...others].map((frames) => frames.length);
    for (let ms = 0; ms < limits.focusedIntervalMs; ms++) {
      feed.grow("A" as ChunkId, "x");
      await clock.advance(1);
    }
    const before = counts();
    let told = 0;
    for (let ms = 0; ms < limits.backgroundIntervalMs * 2; ms++) {
      const sum = counts().reduce((all, one) => all + one, 0);
      feed.grow("A" as ChunkId, "x");
      await clock.advance(1);
      if (counts().reduce((all, one) => all + one, 0) > sum) told++;
    }
    const grown = counts().map((count, at) => count - (before[at] ?? 0));
    // All of them in each moment in which one is, and no oftener than every interval.
    expect(grown).toEqual(grown.map(() => told));
    expect(told).toBeLessThanOrEqual(Math.ceil((limits.backgroundIntervalMs * 2) / limits.focusedIntervalMs));
    expect(away.length).toBeLessThanOrEqual(4);
  });

  test("[HUB-10] room on the socket is used at once by whoever is owed a frame, and asks nothing of the others", async () => {
    const made = rig();
    const { feed, frames, clock, subscription } = made;
    feed.publish(block("A"));
    await clock.advance(0);
    subscription.drained();
    expect(clock.pending()).toBe(0);
    made.buffered = limits.socketBufferSkipBytes;
    feed.grow("A" as ChunkId, "owed");
    await clock.advance(limits.focusedIntervalMs);
    made.buffered = 0;
    await clock.advance(limits.focusedIntervalMs);
    expect(textOf(frames)).toBe("");
    subscription.drained();
    await clock.advance(0);
    expect(textOf(frames)).toBe("owed");
    expect(clock.pending()).toBe(0);
  });

  test("[HUB-8] after close nothing is sent and no timer is left", async () => {
    const { feed, frames, clock, subscription } = rig();
    feed.publish(block("A"));
    await clock.advance(0);
    feed.grow("A" as ChunkId, "x");
    subscription.close();
    subscription.close();
    feed.grow("A" as ChunkId, "y");
    await clock.advance(1_000);
    expect(frames).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });
});
