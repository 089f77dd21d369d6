import { createFakeClock } from "@varve/sim";
import { expect, test } from "vitest";
import { PacedReading, restMs } from "./paced-reading.ts";

/** A reading takes `tookMs` each time. */
function rig(tookMs = 0) {
  const clock = createFakeClock();
  const read: number[] = [];
  const start = clock.now();
  const reading = new PacedReading(async () => {
    read.push(clock.now() - start);
    if (tookMs > 0) await new Promise<void>((done) => void clock.setTimer(tookMs, done));
  }, clock);
  return { clock, read, reading };
}

test("300 steps within a minute are read about twenty times, and the last one is not missed", async () => {
  const { clock, read, reading } = rig();
  for (let step = 0; step < 300; step += 1) {
    reading.soon();
    await clock.advance(200);
  }
  const before = read.length;
  expect(before).toBeGreaterThan(15);
  expect(before).toBeLessThan(22);
  reading.soon();
  await clock.advance(restMs);
  expect(read.length).toBe(before + 1);
  expect(clock.pending()).toBe(0);
});

test("a slow reading is followed by a longer rest", async () => {
  const { clock, read, reading } = rig(2_000);
  for (let second = 0; second < 200; second += 1) {
    reading.soon();
    await clock.advance(1_000);
  }
  // 2 s of reading, 40 s of rest.
  expect(read.length).toBeLessThanOrEqual(6);
  expect(read.length).toBeGreaterThan(3);
});

test("what somebody waits for is read at once, and wishes that come meanwhile are one more reading", async () => {
  const { clock, read, reading } = rig(100);
  reading.soon();
  reading.soon();
  let done = false;
  void reading.now().then(() => {
    done = true;
  });
  void reading.now();
  await clock.advance(100);
  expect([read, done]).toEqual([[0, 100], false]);
  await clock.advance(100);
  expect([read, done]).toEqual([[0, 100], true]);
});

test("what moves during a reading is read after a rest, however long that takes", async () => {
  const { clock, read, reading } = rig(1_000);
  reading.soon();
  await clock.advance(500);
  reading.soon();
  await clock.advance(60_000);
  expect(read).toEqual([0, 21_000]);
});

test("nobody looks: a planned reading does not happen; one that is under way goes on", async () => {
  const { clock, read, reading } = rig();
  await reading.now();
  reading.soon();
  expect(clock.pending()).toBe(1);
  reading.rest();
  await clock.advance(60_000);
  expect(read).toEqual([0]);
});

test("a clock that was set back does not hold the figures up", async () => {
  const { clock, read, reading } = rig();
  await reading.now();
  clock.jump(-86_400_000);
  reading.soon();
  await clock.advance(restMs);
  expect(read.length).toBe(2);
});

test("a reading that fails ends, and the next one is made", async () => {
  const clock = createFakeClock();
  let tries = 0;
  const reading = new PacedReading(() => {
    tries += 1;
    return tries === 1 ? Promise.reject(new Error("gone")) : Promise.resolve();
  }, clock);
  await expect(reading.now()).rejects.toThrow("gone");
  await reading.now();
  expect(tries).toBe(2);
});
