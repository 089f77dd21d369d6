/**
 * Taking over the database of Varve's ancestor. Its messages and tabs have no counterpart here; its settings, keys,
 * usage and schedule are kept as they stand, in its own tables.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { type Fault, fault } from "@varve/protocol";
import type { Database, Engine } from "../driver.ts";
import { faultOrThrow } from "../home.ts";

/** Its mark is a `messages` table; its last versions had dropped that and kept chunks by tab. */
export function isAncestor(database: Database): boolean {
  const found = database
    .prepare(
      `SELECT count(*) AS found FROM sqlite_schema WHERE type = 'table' AND (name = 'messages'
       OR (name = 'chunks' AND EXISTS (SELECT 1 FROM pragma_table_info('chunks') WHERE name = 'tab_id')))`,
    )
    .get();
  return Number(found?.found) > 0;
}

/** Only what is named here; whatever else the file holds stays. */
export function dropAncestorTables(database: Database): void {
  database.exec("DROP TABLE IF EXISTS messages; DROP TABLE IF EXISTS chunks; DROP TABLE IF EXISTS tabs");
}

/** Copies the ancestor's file to where ours shall be; the source is only read. Null: done, or done before. */
export function importCopy(engine: Engine, source: string, target: string): Fault | null {
  if (existsSync(target)) return null;
  if (!existsSync(source)) return fault("bad-request", `There is no file ${resolve(source)} to import.`);
  const unfinished = `${target}.importing`;
  let database: Database | null = null;
  try {
    database = engine.open(source, { readOnly: true });
    if (!isAncestor(database)) return notAncestor(source);
    rmSync(unfinished, { force: true });
    database.prepare("VACUUM INTO ?").run(unfinished);
    renameSync(unfinished, target);
    return null;
  } catch (error) {
    return faultOrThrow(error, source);
  } finally {
    database?.close();
  }
}

const notAncestor = (source: string): Fault =>
  fault("bad-request", `${resolve(source)} holds no messages table, so there is nothing to import from it.`);
