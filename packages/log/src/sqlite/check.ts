import type { Fault } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { text } from "./decode.ts";
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

/** Table by table, letting other work in between; a finding stops all writing. */
export async function checkStore(store: Store): Promise<Fault | null> {
  const named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
  const tables = store.transactions.read(() =>
    store.database
      .prepare(named)
      .all()
      .map((row) => text(row, "name")),
  );
  if (isFault(tables)) return tables;
  for (const table of tables) {
    const found = store.transactions.read(() => quickCheck(store.database, table.replaceAll('"', '""')));
    if (isFault(found)) return found;
    if (found !== null) return store.transactions.reportDamage(found);
    await new Promise((resume) => setImmediate(resume));
  }
  return null;
}
