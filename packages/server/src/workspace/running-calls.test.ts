import { limits } from "@varve/protocol";
import { createFakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { RunningCalls } from "./running-calls.ts";

function made() {
  const clock = createFakeClock();
  const shown: unknown[] = [];
  const calls: RunningCalls = new RunningCalls({ clock, changed: () => shown.push(calls.shown()) });
  /** What was shown since the last look, by the names of the calls. */
  const news = (): readonly unknown[] => shown.splice(0);
  return { clock, calls, news };
}
const call = (callId: string) => ({ callId, name: "bash" });

describe("calls that run long", () => {
  test("[TAB-120] a call is shown when it has run so long, with when it began, until it ends", async () => {
    const { clock, calls, news } = made();
    const since = clock.now();
    const running = calls.began(call("a"));
    await clock.advance(limits.longCallMs - 1);
    expect(news()).toEqual([]);
    await clock.advance(1);
    expect(news()).toEqual([[{ callId: "a", name: "bash", since, movable: false }]]);
    running.canMove(() => true);
    expect(news()).toEqual([[{ callId: "a", name: "bash", since, movable: true }]]);
    running.ended();
    expect(news()).toEqual([undefined]);
    expect(clock.pending()).toBe(0);
  });

  test("[TAB-120] a short call shows nothing and leaves no timer", async () => {
    const { clock, calls, news } = made();
    for (let i = 0; i < 50; i++) {
      const running = calls.began(call(`c${i}`));
      running.canMove(() => true);
      await clock.advance(limits.longCallMs / 10);
      running.ended();
    }
    await clock.advance(limits.longCallMs);
    expect(news()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  test("[TAB-120] several are shown in the order in which they began", async () => {
    const { clock, calls, news } = made();
    const b = calls.began(call("b"));
    await clock.advance(100);
    calls.began(call("a"));
    await clock.advance(limits.longCallMs);
    expect(news()).toMatchObject([[{ callId: "b" }], [{ callId: "b" }, { callId: "a" }]]);
    b.ended();
    expect(news()).toMatchObject([[{ callId: "a" }]]);
    calls.close();
    expect(calls.shown()).toBeUndefined();
    expect(clock.pending()).toBe(0);
  });

  test("[TAB-121] one that is moved is shown no more, and is asked once, however often it is wished", async () => {
    const { clock, calls, news } = made();
    let moves = 0;
    const running = calls.began(call("a"));
    running.canMove(() => ++moves > 0);
    await clock.advance(limits.longCallMs);
    news();
    expect([calls.toBackground("a"), calls.toBackground("a")]).toEqual([true, true]);
    expect(moves).toBe(1);
    expect(news()).toEqual([undefined]);
    running.ended();
    expect(calls.toBackground("a")).toBe(false);
    expect(news()).toEqual([]);
  });

  test("[TAB-121] one that is moved before it was long is never shown", async () => {
    const { clock, calls, news } = made();
    const running = calls.began(call("a"));
    running.canMove(() => true);
    expect(calls.toBackground("a")).toBe(true);
    await clock.advance(limits.longCallMs);
    running.ended();
    expect(news()).toEqual([]);
  });

  test("[TAB-121] one that has no way, or whose way is closed, goes on as it was", async () => {
    const { clock, calls, news } = made();
    calls.began(call("a"));
    calls.began(call("b")).canMove(() => false);
    await clock.advance(limits.longCallMs);
    const before = calls.shown();
    news();
    expect([calls.toBackground("a"), calls.toBackground("b"), calls.toBackground("none")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(news()).toEqual([]);
    expect(calls.shown()).toEqual(before);
  });

  test("[TAB-120] what ends behind the turn's end changes nothing", async () => {
    const { clock, calls, news } = made();
    const running = calls.began(call("a"));
    await clock.advance(limits.longCallMs);
    news();
    calls.close();
    running.canMove(() => true);
    running.ended();
    expect(news()).toEqual([]);
  });
});
