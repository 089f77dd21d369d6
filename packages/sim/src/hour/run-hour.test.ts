import { expect, test } from "vitest";
import { type Held, runHour } from "./run-hour.ts";

test("[SIM-70] a minute of the hour: each delta reaches the view in its time, and what was sealed is whole", async () => {
  const pace = { deltasASecond: 30, deltasAStep: 150, stepsATurn: 4, words: "steady " };
  const held: Held[] = [];
  const spanOver = (one: Held): number => held.push(one);

  const { deltas, steps, turns, frames, tail, sealedChars } = await runHour({ minutes: 1, spans: 3, pace, spanOver });

  expect(deltas).toBeGreaterThan(55 * pace.deltasASecond);
  expect(turns).toBe(Math.ceil(steps / pace.stepsATurn));
  expect(sealedChars).toBe((steps - 1) * pace.deltasAStep * pace.words.length);
  expect(held.at(-1)).toMatchObject({ rows: tail, tail });
  expect(held.map(({ openChars }) => openChars % pace.words.length)).toEqual([0, 0, 0]);
  // One frame a tick at most, and the few that open and seal.
  expect(frames).toBeGreaterThan(25 * 60);
  expect(frames).toBeLessThan(31 * 60 + steps * 6 + 20);
});
