import { createFakeClock, settle } from "@varve/sim";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";
import { pause, unlessAborted } from "./wait.ts";

test("[LOOP-4] never more run than there are places, all run, in the order in which they came", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat({ max: 5 }), { maxLength: 20 }),
      async (max, waits) => {
        const slots = createSlots(max);
        const begun: number[] = [];
        let running = 0;
        await Promise.all(
          waits.map((rounds, index) =>
            slots.use(async () => {
              begun.push(index);
              running += 1;
              expect(running).toBeLessThanOrEqual(max);
              for (let round = 0; round < rounds; round++) await Promise.resolve();
              running -= 1;
            }),
          ),
        );
        expect(begun).toEqual(waits.map((_, index) => index));
      },
    ),
  );
});

test("[LOOP-4] a place is free again after a failure", async () => {
  const slots = createSlots(1);
  await expect(slots.use(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await slots.use(async () => "next")).toBe("next");
});

test("[LOOP-8] a pause ends with its time or with the stop, and leaves no timer behind", async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  let ended = 0;
  const count = () => {
    ended += 1;
  };
  void pause(clock, 100, stop.signal).then(count);
  await clock.advance(99);
  expect(ended).toBe(0);
  await clock.advance(1);
  expect(ended).toBe(1);
  void pause(clock, 100, stop.signal).then(count);
  stop.abort();
  await settle();
  expect(ended).toBe(2);
  await pause(clock, 100, stop.signal);
  expect(clock.pending()).toBe(0);
});

test("[LOOP-8] work that loses against the stop is not heard, its fault neither", async () => {
  const stop = new AbortController();
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  const first = unlessAborted(work, stop.signal);
  stop.abort();
  expect(await first).toBe("aborted");
  fail(new Error("late"));
  await settle();
  expect(await unlessAborted(Promise.resolve("quick"), new AbortController().signal)).toBe("quick");
});
