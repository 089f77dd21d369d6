import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, openSqliteLog } from "@varve/log";
import { type Database, loadEngine } from "@varve/log/engine";
import { idMaker, isFault, type NewRow, uuidV7Maker } from "@varve/protocol";
import { median, rounded } from "./lib/statistics.ts";

// Sealed rows a second through the port, one row a commit, against a bare prepared INSERT transaction on the same
// schema and settings with the text made before. In turns, so that a busy machine slows both. Budget: 0.9 of the bare.

const ROUNDS = 40;
const ROWS_A_ROUND = 100;
const TEXT = "A sealed row of about the size that an agent's rows have. ".repeat(8);
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
  try {
    const log = sound(await openSqliteLog({ home: join(folder, "port"), clock }));
    const port = await portWriter(log);
    const bare = await bareWriter(join(folder, "bare"));
    const figures = await measure(port, bare);
    await log.close();
    bare.close();
    const counts = { rounds: ROUNDS, rowsARound: ROWS_A_ROUND, engine: `${log.engine.name} ${log.engine.version}` };
    process.stdout.write(`${JSON.stringify({ name: "append", counts, seed: 0, figures })}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(port: (row: NewRow) => Promise<void>, bare: Bare): Promise<Record<string, number>> {
  const seconds: { port: number[]; bare: number[] } = { port: [], bare: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const rows = Array.from({ length: ROWS_A_ROUND * 2 }, makeRow);
    const own = async () => seconds.port.push(await timed(rows.slice(0, ROWS_A_ROUND), port));
    const other = async () => seconds.bare.push(await timed(rows.slice(ROWS_A_ROUND), bare.write));
    // Whoever comes first in a round comes second in the next.
    for (const turn of round % 2 === 0 ? [own, other] : [other, own]) await turn();
  }
  const ratios = seconds.port.map((own, at) => (seconds.bare[at] ?? Number.NaN) / own);
  return {
    "port rows/s": rounded(ROWS_A_ROUND / median(seconds.port)),
    "bare rows/s": rounded(ROWS_A_ROUND / median(seconds.bare)),
    "ratio of medians": Math.round((median(seconds.bare) / median(seconds.port)) * 1000) / 1000,
    "median ratio": Math.round(median(ratios) * 1000) / 1000,
  };
}

async function timed(rows: readonly NewRow[], write: (row: NewRow) => Promise<void> | void): Promise<number> {
  const start = performance.now();
  for (const row of rows) await write(row);
  return (performance.now() - start) / 1000;
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

async function portWriter(log: Log): Promise<(row: NewRow) => Promise<void>> {
  const [id, logId, createdAt] = [ids.tab(), ids.log(), Date.now()];
  const base = { title: "bench", cwd: "/", model: "demo/demo", effort: "medium", permissions: "ask", parentId: null };
  sound(await log.createTab({ ...base, id, logId, createdAt, options: {} }));
  const claim = sound(await log.claim(id, Date.now()));
  return async (row) => {
    const outcome = await log.commit(claim, { rows: [row] });
    if (outcome.kind !== "committed") throw new Error(JSON.stringify(outcome));
  };
}

interface Bare {
  write(row: NewRow): void;
  close(): void;
}

/** The port's own schema in a home of its own, written without the port. */
async function bareWriter(home: string): Promise<Bare> {
  await sound(await openSqliteLog({ home, clock })).close();
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
  const write = ({ id, turnId, step, role, type, createdAt }: NewRow) => {
    seq += 1;
    begin.run();
    insert.run(logId, seq, id, createdAt, turnId, step, role, type, text, createdAt, null, null);
    commit.run();
  };
  return { write, close: () => database.close() };
}

function sound<T>(value: T): Exclude<T, { readonly kind: "fault" } | null> {
  if (value === null || isFault(value)) throw new Error(JSON.stringify(value));
  // The two that were ruled out are exactly what the type leaves out.
  return value as Exclude<T, { readonly kind: "fault" } | null>;
}

await main();
