import fc from "fast-check";
import { expect, test } from "vitest";
import { createFakeClock } from "./fake-clock.ts";

test("[SIM-10] timers run at their own time, in order of time, then of setting", async () => {
  const clock = createFakeClock(1000);
  const ran: string[] = [];
  const at = (name: string) => () => ran.push(`${name}@${clock.now()}`);
  clock.setTimer(20, at("b"));
  clock.setTimer(10, at("a"));
  clock.setTimer(20, at("c"));
  clock.setTimer(21, at("d"));
  await clock.advance(20);
  expect(ran).toEqual(["a@1010", "b@1020", "c@1020"]);
  expect([clock.now(), clock.pending(), clock.nextIn()]).toEqual([1020, 1, 1]);
});

test("a timer never runs synchronously, not even one without delay", async () => {
  const clock = createFakeClock();
  let ran = 0;
  clock.setTimer(0, () => {
    ran += 1;
  });
  expect(ran).toBe(0);
  await clock.advance(0);
  expect(ran).toBe(1);
});

test("cancelled timers do not run, cancelling twice or late is fine", async () => {
  const clock = createFakeClock();
  const ran: number[] = [];
  const first = clock.setTimer(1, () => ran.push(1));
  const second = clock.setTimer(1, () => ran.push(2));
  clock.setTimer(0, () => second.cancel());
  await clock.advance(5);
  first.cancel();
  second.cancel();
  expect(ran).toEqual([1]);
  expect(clock.pending()).toBe(0);
});

test("[SIM-10] what a timer awaits settles before the next timer, and timers set on the way run in the same advance", async () => {
  const clock = createFakeClock(0);
  const ran: string[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
  const work = async (name: string, ms: number) => {
    for (let round = 1; round <= 2; round += 1) {
      await sleep(ms);
      await Promise.resolve();
      ran.push(`${name}${round}@${clock.now()}`);
    }
  };
  const all = [work("x", 10), work("y", 15)];
  await clock.advance(30);
  await Promise.all(all);
  expect(ran).toEqual(["x1@10", "y1@15", "x2@20", "y2@30"]);
});

test("a jump of the wall clock runs nothing and moves no timer", async () => {
  const clock = createFakeClock(0);
  let ranAt = 0;
  clock.setTimer(10, () => {
    ranAt = clock.now();
  });
  clock.jump(-5000);
  expect([clock.now(), clock.nextIn()]).toEqual([-5000, 10]);
  await clock.advance(10);
  expect(ranAt).toBe(-4990);
});

test("endless timers are a mistake, not a hang", async () => {
  const clock = createFakeClock();
  const again = (): void => void clock.setTimer(Number.NaN, again);
  expect(again).toThrow("finite");
});

test("[SIM-10] any set of timers runs in order of due time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 12 }), async (delays) => {
      const clock = createFakeClock(0);
      const ran: number[] = [];
      for (const delay of delays) clock.setTimer(delay, () => ran.push(clock.now()));
      await clock.advance(25);
      await clock.advance(25);
      expect(ran).toEqual([...delays].sort((a, b) => a - b));
    }),
    { numRuns: 50 },
  );
});
