import { statSync } from "node:fs";
import type { Fault } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { number, text } from "./decode.ts";
import type { Database } from "./driver.ts";
import type { Store } from "./store.ts";

/** Files below this are checked before the log answers; larger ones by `check`, when the server has time. */
export const checkedAtOpenBytes = 16 * 1024 * 1024;

/** What SQLite finds wrong with the whole file; null when it is sound. */
export function quickCheck(database: Database, table?: string): string | null {
  const row = database.prepare(table === undefined ? "PRAGMA quick_check(1)" : `PRAGMA quick_check("${table}")`).get();
  const found = String(Object.values(row ?? {})[0]);
  return found === "ok" ? null : found;
}

/**
 * The tables that grow for ever, and how a piece of one is read: with every byte of its long column, and each row found by its
 * keys. SQLite's own check of such a table would hold up everything else for as long as it takes.
 */
const grown: Readonly<Record<string, { readonly long: string; readonly keys: readonly (readonly string[])[] }>> = {
  chunks: {
    long: "data_json",
    keys: [
      ["log_id", "seq"],
      ["log_id", "id"],
    ],
  },
  inbox: { long: "data_json", keys: [["id"]] },
  bills: { long: "other_json", keys: [["log_id", "seq"]] },
};
/** Rows of one piece. Each is at most as long as a row may be, so a piece takes some milliseconds. */
const pieceRows = 300;

export interface CheckOptions {
  /** Files below this are checked table by table with SQLite's own check. Default: what is checked at opening. */
  readonly wholeBelowBytes?: number;
  /** Between two pieces; what else waits has its turn. Default: one turn of the event loop. */
  readonly giveWay?: () => Promise<void>;
}

const nextTurn = (): Promise<void> => new Promise((resume) => setImmediate(resume));

/** Piece by piece, letting other work in between; a finding stops all writing. */
export async function checkStore(store: Store, options: CheckOptions = {}): Promise<Fault | null> {
  const { wholeBelowBytes = checkedAtOpenBytes, giveWay = nextTurn } = options;
  const named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
  const tables = store.transactions.read(() =>
    store.database
      .prepare(named)
      .all()
      .map((row) => text(row, "name")),
  );
  if (isFault(tables)) return tables;
  const size = statSync(store.database.path, { throwIfNoEntry: false })?.size ?? 0;
  for (const table of tables) {
    const found =
      size >= wholeBelowBytes && table in grown
        ? await checkPieces(store, table, giveWay)
        : store.transactions.read(() => quickCheck(store.database, table.replaceAll('"', '""')));
    if (isFault(found)) return found;
    if (found !== null) return store.transactions.reportDamage(found);
    await giveWay();
  }
  return null;
}

async function checkPieces(store: Store, table: string, giveWay: () => Promise<void>): Promise<string | Fault | null> {
  const { long = "", keys = [] } = grown[table] ?? {};
  const columns = [...new Set(keys.flat())].join(", ");
  const foundBy = keys.map((key) => {
    const same = key.map((column) => `other.${column} = piece.${column}`).join(" AND ");
    return `EXISTS (SELECT 1 FROM ${table} AS other WHERE ${same})`;
  });
  const prepared = store.transactions.read(() =>
    store.database.prepare(`SELECT max(piece.n) AS n, count(*) AS seen, total(length(piece.long)) AS size,
    sum(${foundBy.join(" AND ")}) AS found
    FROM (SELECT rowid AS n, ${long} AS long, ${columns} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ?) AS piece`),
  );
  if (isFault(prepared)) return prepared;
  for (let after = 0; ; await giveWay()) {
    const row = store.transactions.read(() => prepared.get(after, pieceRows));
    if (isFault(row)) return row;
    if (row === undefined || number(row, "seen") === 0) return null;
    if (row.found !== row.seen) return `rows of ${table} are missing from its index`;
    after = number(row, "n");
  }
}
