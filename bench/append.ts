import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "@varve/log";
import { type Database, loadEngine } from "@varve/log/engine";
import type { NewRow } from "@varve/protocol";
import { ids, newTab, openLog, sound } from "./lib/bench-log.ts";
import { numberFlag, report } from "./lib/report.ts";
import { median, rounded, thousandths } from "./lib/statistics.ts";
import { inTurns } from "./lib/turns.ts";

// Sealed rows a second through the port, one row a commit and four, against a bare prepared INSERT transaction of as many
// rows on the same schema and settings with the text made before. In short turns, so that a busy disk slows both. Budget:
// 0.9 of the bare.

const ROUNDS = numberFlag("--rounds", 200);
const COMMITS_A_ROUND = 20;
const SIZES = [1, 4];
const TEXT = "A sealed row of about the size that an agent's rows have. ".repeat(8);

type Write = (rows: readonly NewRow[]) => Promise<void> | void;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "varve-bench-"));
  try {
    const log = await openLog(join(folder, "port"));
    const port = await portWriter(log);
    const bare = await bareWriter(join(folder, "bare"));
    const figures: Record<string, number> = {};
    for (const size of SIZES) await measure(size, { port, bare: bare.write }, figures);
    await log.close();
    bare.close();
    const engine = `${log.engine.name} ${log.engine.version}`;
    report({ name: "append", counts: { rounds: ROUNDS, commitsARound: COMMITS_A_ROUND, engine }, figures });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Time on the processor beside the time by the clock: what is left of a difference when the disk is somebody else's. */
interface Taken {
  readonly ms: number[];
  readonly cpuUs: number[];
}

async function measure(
  size: number,
  writers: { readonly port: Write; readonly bare: Write },
  figures: Record<string, number>,
): Promise<void> {
  const taken = { port: { ms: [], cpuUs: [] }, bare: { ms: [], cpuUs: [] } } satisfies Record<string, Taken>;
  await inTurns(ROUNDS, [() => timed(size, writers.port, taken.port), () => timed(size, writers.bare, taken.bare)]);
  const ratios = taken.port.ms.map((own, at) => (taken.bare.ms[at] ?? Number.NaN) / own);
  const rows = size * COMMITS_A_ROUND;
  const name = size === 1 ? "1 row" : `${size} rows`;
  figures[`${name}: port rows/s`] = rounded((rows * 1000) / median(taken.port.ms));
  figures[`${name}: bare rows/s`] = rounded((rows * 1000) / median(taken.bare.ms));
  figures[`${name}: ratio of medians`] = thousandths(median(taken.bare.ms) / median(taken.port.ms));
  figures[`${name}: median ratio`] = thousandths(median(ratios));
  figures[`${name}: processor us a commit more`] = rounded(
    (median(taken.port.cpuUs) - median(taken.bare.cpuUs)) / COMMITS_A_ROUND,
  );
}

async function timed(size: number, write: Write, into: Taken): Promise<void> {
  const batches = Array.from({ length: COMMITS_A_ROUND }, () => Array.from({ length: size }, makeRow));
  const before = process.cpuUsage();
  const start = performance.now();
  for (const rows of batches) await write(rows);
  into.ms.push(performance.now() - start);
  const { user, system } = process.cpuUsage(before);
  into.cpuUs.push(user + system);
}

const makeRow = (): NewRow => ({
  id: ids.chunk(),
  turnId: ids.turn(),
  step: 0,
  createdAt: Date.now(),
  role: "assistant",
  type: "text",
  data: { text: TEXT },
});

async function portWriter(log: Log): Promise<Write> {
  const claim = await newTab(log);
  return async (rows) => {
    const outcome = await log.commit(claim, { rows });
    if (outcome.kind !== "committed") throw new Error(JSON.stringify(outcome));
  };
}

interface Bare {
  readonly write: Write;
  close(): void;
}

/** The port's own schema in a home of its own, written without the port. */
async function bareWriter(home: string): Promise<Bare> {
  await (await openLog(home)).close();
  const database: Database = sound(await loadEngine()).open(join(home, "varve.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA recursive_triggers = ON");
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  const insert = database.prepare(
    `INSERT INTO chunks (log_id, seq, id, term, turn_id, step, role, type, data_json, created_at, by, call_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const logId = ids.log();
  const text = JSON.stringify({ text: TEXT });
  let seq = 0;
  const write = (rows: readonly NewRow[]) => {
    begin.run();
    for (const { id, turnId, step, role, type, createdAt } of rows) {
      seq += 1;
      insert.run(logId, seq, id, createdAt, turnId, step, role, type, text, createdAt, null, null);
    }
    commit.run();
  };
  return { write, close: () => database.close() };
}

await main();
