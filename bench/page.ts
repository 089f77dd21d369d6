import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Claim, type Log, openSqliteLog } from "@varve/log";
import { idMaker, isFault, limits, type NewRow, uuidV7Maker } from "@varve/protocol";
import { median, rounded } from "./lib/statistics.ts";

// A page of 100 rows anywhere in a log, by its length: both ways, within the size of a page, and what a row and an
// opening of the home cost beside it. Budget: p95 of a page of a 100,000-row log under 10 ms.

const LENGTHS = [1000, 100_000];
const PAGES = 300;
const BATCH = 1000;
const seed = 7;
const ids = idMaker(
  uuidV7Maker(
    () => Date.now(),
    (into) => crypto.getRandomValues(into),
  ),
);
const clock = {
  now: () => Date.now(),
  setTimer: () => ({ cancel: () => undefined }),
};

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "varve-bench-"));
  const figures: Record<string, number> = {};
  try {
    for (const length of LENGTHS) await measure(join(folder, String(length)), length, figures);
    process.stdout.write(
      `${JSON.stringify({ name: "page", counts: { lengths: LENGTHS, pages: PAGES }, seed, figures })}\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(home: string, length: number, figures: Record<string, number>): Promise<void> {
  const log = sound(await openSqliteLog({ home, clock }));
  const claim = await filled(log, length);
  const times: number[] = [];
  let largest = 0;
  const next = positions(length);
  for (let page = 0; page < PAGES; page++) {
    const way = page % 2 === 0 ? "before" : "after";
    const start = performance.now();
    const read = sound(
      await log.page({ logId: claim.logId, [way]: next(), limit: 100, bytesMax: limits.pageBytesMax }),
    );
    times.push(performance.now() - start);
    largest = Math.max(largest, JSON.stringify(read.rows).length);
  }
  await log.close();
  const openings: number[] = [];
  for (let again = 0; again < 5; again++) {
    const start = performance.now();
    const opened = sound(await openSqliteLog({ home, clock }));
    openings.push(performance.now() - start);
    await opened.close();
  }
  const sorted = times.sort((a, b) => a - b);
  figures[`${length} rows p50 ms`] = rounded(median(sorted));
  figures[`${length} rows p95 ms`] = rounded(sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN);
  figures[`${length} rows largest page KiB`] = rounded(largest / 1024);
  figures[`${length} rows open ms`] = rounded(median(openings));
}

/** Positions all over the log, the same in each run. */
function positions(length: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return 1 + (state % length);
  };
}

async function filled(log: Log, length: number): Promise<Claim> {
  const base = {
    title: "bench",
    cwd: "/",
    model: "demo/demo",
    effort: "medium",
    permissions: "ask",
    parentId: null,
    options: {},
  };
  const tab = sound(await log.createTab({ ...base, id: ids.tab(), logId: ids.log(), createdAt: Date.now() }));
  const claim = sound(await log.claim(tab.id, Date.now()));
  for (let made = 0; made < length; made += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, at) => makeRow(made + at));
    const outcome = await log.commit(claim, { rows });
    if (outcome.kind !== "committed") throw new Error(JSON.stringify(outcome));
  }
  return claim;
}

/** Mostly small rows, some long ones, as an agent's log has them. */
const makeRow = (at: number): NewRow => ({
  id: ids.chunk(),
  turnId: ids.turn(),
  step: 0,
  createdAt: at,
  role: "assistant",
  type: "text",
  data: { text: "some text of a row ".repeat(at % 20 === 0 ? 300 : 20) },
});

function sound<T>(value: T): Exclude<T, { readonly kind: "fault" } | null> {
  if (value === null || isFault(value)) throw new Error(JSON.stringify(value));
  // The two that were ruled out are exactly what the type leaves out.
  return value as Exclude<T, { readonly kind: "fault" } | null>;
}

await main();
