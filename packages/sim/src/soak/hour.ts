/**
 * An hour of streaming on a clock that is moved: `npm run soak -- hour [--short]`. What is held after a collection at the end of
 * each fifth; flat when the last is at most a twentieth, or 2 MiB, over the second. The last line is one JSON object; the exit
 * code is 1 when it is not flat, when text was lost, or when the window held more than it may.
 */
import { limits } from "@varve/protocol";
import { runHour } from "../hour/run-hour.ts";

const spans = 5;
const minutes = process.argv.includes("--short") ? 10 : 60;
const mib = 1024 * 1024;
const flatShare = 1.05;
const flatBytes = 2 * mib;

const heap: number[] = [];
const startedMs = performance.now();
const figures = await runHour({
  minutes,
  spans,
  pace: { deltasASecond: 30, deltasAStep: 600, stepsATurn: 20, words: "steady " },
  spanOver({ rows, tail }) {
    for (let round = 0; round < 2; round++) globalThis.gc?.();
    heap.push(process.memoryUsage().heapUsed);
    console.log(`fifth ${heap.length}: ${((heap.at(-1) ?? 0) / mib).toFixed(1)} MiB held, ${rows} of ${tail} rows`);
  },
});
const [, second = 0] = heap;
const last = heap.at(-1) ?? Number.POSITIVE_INFINITY;
const flat = last <= Math.max(second * flatShare, second + flatBytes);
// The step that is under way has not sealed: all the others have, to the last character.
const whole = figures.sealedChars >= (figures.steps - 1) * 600 * "steady ".length;
const bounded = figures.rowsMost <= limits.windowRowsMax;
console.log(
  JSON.stringify({
    soak: "hour",
    ok: flat && whole && bounded,
    seed: 0,
    seconds: Math.round((performance.now() - startedMs) / 1000),
    minutes,
    flat,
    whole,
    bounded,
    heapMiB: heap.map((bytes) => Math.round((bytes / mib) * 10) / 10),
    ...figures,
  }),
);
process.exitCode = flat && whole && bounded ? 0 : 1;
