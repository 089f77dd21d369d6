/**
 * Schemas are numbered; a file is brought to the newest one step by step, in one transaction, after a backup copy. A
 * file of a later Varve, or of another program, is refused before anything in it is touched. Migrations only add.
 */
import { type Fault, fault, isFault } from "@varve/protocol";
import type { Database } from "../driver.ts";
import { faultOrThrow } from "../home.ts";
import { dropAncestorTables, isAncestor } from "./ancestor.ts";
import { backUp } from "./backup.ts";
import { schema1 } from "./schema-1.ts";
import { schema2 } from "./schema-2.ts";

interface Migration {
  readonly to: number;
  readonly sql: string;
}
/** In order, from 1, without a gap. A released one never changes. */
const migrations: readonly Migration[] = [
  { to: 1, sql: schema1 },
  { to: 2, sql: schema2 },
];
export const newestSchema = migrations.length;

/** "Varv" in ASCII: marks a file as ours. */
export const applicationId = 0x56617276;

type Shape =
  | { readonly kind: "empty" }
  | { readonly kind: "ancestor" }
  | { readonly kind: "ours"; readonly version: number }
  | { readonly kind: "foreign" };

/** Null when the file is at the newest schema. `importedFrom` is noted in the file when the ancestor is taken over. */
export function migrate(database: Database, importedFrom: string | null): Fault | null {
  try {
    const shape = shapeOf(database);
    if (shape.kind === "foreign") return foreignFile(database.path);
    if (shape.kind === "ours" && shape.version > newestSchema) return laterSchema(database.path, shape.version);
    if (shape.kind === "ours" && importedFrom !== null && originOf(database) !== importedFrom)
      return homeInUse(database.path);
    if (shape.kind === "ours" && shape.version === newestSchema) return null;
    const backup =
      shape.kind === "empty" ? null : backUp(database, `${database.path}.before-migration-${newestSchema}`);
    if (isFault(backup)) return backup;
    run(database, shape, importedFrom);
    return null;
  } catch (error) {
    return faultOrThrow(error, database.path);
  }
}

function shapeOf(database: Database): Shape {
  const id = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  if (id === applicationId) return { kind: "ours", version };
  if (isAncestor(database)) return { kind: "ancestor" };
  const tables = Number(database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.tables);
  return tables === 0 && id === 0 ? { kind: "empty" } : { kind: "foreign" };
}

const pragma = (database: Database, name: string): number =>
  Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);

function run(database: Database, shape: Shape, importedFrom: string | null): void {
  const from = shape.kind === "ours" ? shape.version : 0;
  // Dropping a table that others refer to must not delete from those.
  database.exec("PRAGMA foreign_keys = OFF");
  database.exec("BEGIN IMMEDIATE");
  try {
    if (shape.kind === "ancestor") dropAncestorTables(database);
    for (const { to, sql } of migrations) if (to > from) database.exec(sql);
    if (importedFrom !== null)
      database.prepare("INSERT INTO origin (key, value) VALUES ('imported-from', ?)").run(importedFrom);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${newestSchema}`);
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // A full disk has rolled it back already.
  }
}

function originOf(database: Database): string | null {
  const row = database.prepare("SELECT value FROM origin WHERE key = 'imported-from'").get();
  return row === undefined ? null : String(row.value);
}

const foreignFile = (path: string): Fault =>
  fault(
    "log-unavailable",
    `${path} is a database of another program.`,
    "Nothing was changed. Move it away, or start with another --home.",
  );

const laterSchema = (path: string, version: number): Fault =>
  fault(
    "log-unavailable",
    `${path} was written by a later Varve (schema ${version}; this one knows ${newestSchema}).`,
    "Nothing was changed. Start the later Varve, or use another --home.",
  );

const homeInUse = (path: string): Fault =>
  fault(
    "bad-request",
    `There is a database at ${path} already, so nothing can be imported into it.`,
    "Nothing was changed. Start without --import-db, or with another --home.",
  );
