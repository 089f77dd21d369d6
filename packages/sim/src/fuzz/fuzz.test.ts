import { expect, test } from "vitest";
import { runHomes } from "./homes.ts";
import { runFuzz } from "./run-fuzz.ts";

/** Inputs of each run of the tests; a longer run is the soak's. */
const inputs = 1_900;
const starts = 12;
/** A machine that runs other tests may be slow; what never answers is found all the same. */
const slowMs = 10_000;

test("[SIM-71] requests, frames and bytes of any kind get a known answer, and the server works on", async () => {
  const figures = await runFuzz({ seed: 20_261_201, inputs, slowMs, elapsed: () => performance.now() });
  console.log(`fuzz: ${JSON.stringify(figures)}`);
  expect(figures.failures).toEqual([]);
  expect(figures.inputs).toBeGreaterThanOrEqual(inputs);
  // What is behind the checks was reached too.
  expect(Object.keys(figures.answers)).toEqual(expect.arrayContaining(["200", "201", "202", "400", "404", "409"]));
}, 120_000);

test("[SIM-72] a start on garbage in every file, setting and variable runs a turn, or says in one code why it cannot be", async () => {
  const figures = await runHomes({ seed: 20_261_201, starts });
  console.log(`homes: ${JSON.stringify(figures)}`);
  expect(figures.failures).toEqual([]);
  expect(figures.inputs).toBeGreaterThan(starts * 5);
}, 120_000);
