import { join } from "node:path";
import { loadEngine } from "@varve/log/engine";
import { type LogId, limits } from "@varve/protocol";
import { createPrng, growTab, makeProject } from "@varve/sim";
import { Product } from "@varve/sim/e2e";
import { clock, ids, openLog, sound } from "./lib/bench-log.ts";
import { numberFlag, report } from "./lib/report.ts";
import { quantile, rounded, thousandths } from "./lib/statistics.ts";
import { inTurns } from "./lib/turns.ts";

// A page of 100 rows anywhere in a log of a thousand, a hundred thousand and a million rows, both ways: through HTTP from a
// running server, through the log port, and by a bare prepared SELECT of 100 whole rows on the same file. A page ends earlier
// where its size does. Budget: p95 of a page of a 100,000-row tab under 10 ms through HTTP, body under 256 KiB.

const LENGTHS = [1_000, 100_000, 1_000_000].filter((length) => length <= numberFlag("--rows-max", 1_000_000));
const PAGES = numberFlag("--pages", 300);
const seed = 7;

async function main(): Promise<void> {
  const figures: Record<string, number> = {};
  for (const length of LENGTHS) Object.assign(figures, await measure(length));
  report({ name: "page", counts: { lengths: LENGTHS, pages: PAGES }, seed, figures });
}

async function measure(length: number): Promise<Record<string, number>> {
  await using project = await makeProject("tasks");
  await using product = await Product.start();
  const { id } = await product.api.newTab({ cwd: project.dir, model: "demo/demo", permissions: "allow" });
  await product.stop();
  const { tail } = await growTab({ home: product.home, tabId: id, rows: length, ids, clock });

  const positions = positionsIn(tail);
  const direct = await straight(product.home, positions);
  await product.restart();
  const http: number[] = [];
  const health: number[] = [];
  let largest = 0;
  await inTurns(PAGES, [
    async (round) => {
      const { ms, bytes } = await asked(product, `/tabs/${id}/chunks?limit=100&${wayOf(round)}=${positions[round]}`);
      http.push(ms);
      largest = Math.max(largest, bytes);
    },
    async () => void health.push((await asked(product, "/health")).ms),
  ]);
  const name = `${length} rows`;
  return {
    [`${name} http p50 ms`]: rounded(quantile(http, 0.5)),
    [`${name} http p95 ms`]: rounded(quantile(http, 0.95)),
    [`${name} least http p50 ms`]: rounded(quantile(health, 0.5)),
    [`${name} port p50 ms`]: thousandths(quantile(direct.port, 0.5)),
    [`${name} port p95 ms`]: thousandths(quantile(direct.port, 0.95)),
    [`${name} bare p50 ms`]: thousandths(quantile(direct.bare, 0.5)),
    [`${name} bare p95 ms`]: thousandths(quantile(direct.bare, 0.95)),
    [`${name} bare of port p50`]: thousandths(quantile(direct.bare, 0.5) / quantile(direct.port, 0.5)),
    [`${name} largest body KiB`]: rounded(largest / 1024),
    [`${name} open ms`]: rounded(direct.openMs),
  };
}

const wayOf = (round: number): "before" | "after" => (round % 2 === 0 ? "before" : "after");

/** Positions all over the log, the same in each run. */
function positionsIn(tail: number): readonly number[] {
  const prng = createPrng(seed);
  return Array.from({ length: PAGES }, () => prng.int(1, tail));
}

/** Port and bare statement on the file of a server that does not run. */
async function straight(
  home: string,
  positions: readonly number[],
): Promise<{ readonly port: number[]; readonly bare: number[]; readonly openMs: number }> {
  const start = performance.now();
  const log = await openLog(home);
  const openMs = performance.now() - start;
  const [tab] = await log.tabs();
  if (tab === undefined) throw new Error("the tab is there");
  const database = sound(await loadEngine()).open(join(home, "varve.db"), { readOnly: true });
  const columns = "seq, id, term, turn_id, step, role, type, data_json, created_at, by";
  const before = database.prepare(
    `SELECT ${columns} FROM chunks WHERE log_id = ? AND seq < ? ORDER BY seq DESC LIMIT 100`,
  );
  const after = database.prepare(`SELECT ${columns} FROM chunks WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT 100`);
  const page = async (logId: LogId, round: number): Promise<void> => {
    const at = { [wayOf(round)]: positions[round] ?? 1 };
    sound(await log.page({ logId, ...at, limit: 100, bytesMax: limits.pageBytesMax }));
  };
  const [port, bare]: [number[], number[]] = [[], []];
  await inTurns(positions.length, [
    async (round) => void port.push(await took(() => page(tab.logId, round))),
    async (round) => {
      const statement = wayOf(round) === "before" ? before : after;
      bare.push(await took(() => statement.all(tab.logId, positions[round] ?? 1)));
    },
  ]);
  database.close();
  await log.close();
  return { port, bare, openMs };
}

async function took(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function asked({ url, api }: Product, path: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const start = performance.now();
  const response = await fetch(`${url}/api${path}`, { headers: { authorization: `Bearer ${api.token}` } });
  const body = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return { ms: performance.now() - start, bytes: body.byteLength };
}

await main();
