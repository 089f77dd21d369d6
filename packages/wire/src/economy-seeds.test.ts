/** B18: the breakpoints of real requests in real bodies, against a cache that keeps the vendor's published rules. */
import { cacheBlocks, cacheScope, createPrng, createVendorCache } from "@varve/sim";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anthropicModel, capture, requestFor } from "./testing/capture.ts";
import { loggedLogs, type RandomLog } from "./testing/random-log.ts";

/** The long run of the simulation takes all 500. */
const seeds = process.env.SOAK === "1" ? 500 : 60;
const second = 1_000;
/** Time between two requests: seconds within a turn; now and then longer than a life. */
const gaps = [second, 5 * second, 30 * second, 120 * second, 280 * second, 400 * second] as const;

interface Sent {
  readonly body: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
  readonly answered: boolean;
}

async function sentOf({ rows, points }: RandomLog, seed: number): Promise<readonly Sent[]> {
  const prng = createPrng(seed);
  const { scopeHash } = requestFor(rows.slice(0, points[0]?.end));
  const scoped = rows.map((row) =>
    row.type === "system" && row.data.kind === "request" ? { ...row, data: { ...row.data, scopeHash } } : row,
  );
  const sent: Sent[] = [];
  let nowMs = 0;
  for (const { end, answered } of points) {
    nowMs += prng.pick(gaps);
    const { body } = await capture(requestFor(scoped.slice(0, end)), anthropicModel("model-a"));
    sent.push({ body: { ...body }, nowMs, answered });
  }
  return sent;
}

function shortfalls(sent: readonly Sent[], positions: "strict" | "collapsed") {
  const cache = createVendorCache("anthropic", "model-a", { positions });
  let attainable = 0;
  const short: string[] = [];
  for (const [index, { body, nowMs, answered }] of sent.entries()) {
    const request = { scope: cacheScope("anthropic", body), blocks: cacheBlocks("anthropic", body), nowMs };
    const { figures, firstEvent } = cache.begin(request);
    if (answered) firstEvent();
    attainable += figures.attainable;
    if (figures.read !== figures.attainable) short.push(`request ${index}: ${figures.read} of ${figures.attainable}`);
  }
  return { attainable, short };
}

test(`[WIRE-22] B18: over ${seeds} logs, with strict and with collapsed positions, a request reads its longest alive beginning`, async () => {
  const logs = fc.sample(loggedLogs, { seed: 18, numRuns: seeds });
  let attainable = 0;
  const short: string[] = [];
  for (const [seed, log] of logs.entries()) {
    const sent = await sentOf(log, seed);
    for (const positions of ["strict", "collapsed"] as const) {
      const found = shortfalls(sent, positions);
      attainable += found.attainable;
      short.push(...found.short.map((what) => `log ${seed}, ${positions}, ${what}`));
    }
  }
  expect(short).toEqual([]);
  expect(attainable).toBeGreaterThan(seeds * 200);
}, 300_000);
