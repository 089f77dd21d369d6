/** Opening a home: engine, folder, lock, file, schema, soundness, in this order; each failure is one clear fault. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Fault, isFault } from "@varve/protocol";
import { checkedAtOpenBytes, quickCheck } from "./check.ts";
import { type Database, type Engine, loadEngine } from "./driver.ts";
import { faultOrThrow, type HomePaths, homePaths, lockHome, makeHome, touchFile } from "./home.ts";
import { importCopy } from "./migrations/ancestor.ts";
import { migrate } from "./migrations/migrate.ts";
import { damaged } from "./sqlite-fault.ts";

export interface OpenHome {
  readonly engine: Engine;
  readonly paths: HomePaths;
  readonly lock: Database;
  readonly database: Database;
}

export async function openHome(home: string, importDb: string | undefined): Promise<OpenHome | Fault> {
  const engine = await loadEngine();
  if (isFault(engine)) return engine;
  const paths = homePaths(resolve(home));
  const unmade = makeHome(paths);
  if (unmade !== null) return unmade;
  const lock = lockHome(engine, paths);
  if (isFault(lock)) return lock;
  const database = openDatabase(engine, paths.database, importDb === undefined ? null : resolve(importDb));
  if (!isFault(database)) return { engine, paths, lock, database };
  lock.close();
  return database;
}

function openDatabase(engine: Engine, path: string, importDb: string | null): Database | Fault {
  const blocked = (importDb === null ? null : importCopy(engine, importDb, path)) ?? touchFile(path);
  if (blocked !== null) return blocked;
  let database: Database | null = null;
  try {
    database = engine.open(path);
    // At a start nothing else waits, so the engine may.
    database.exec("PRAGMA busy_timeout = 1000");
    const problem = unsound(database) ?? migrate(database, importDb);
    if (problem !== null) {
      database.close();
      return problem;
    }
    database.exec(settings);
    return database;
  } catch (error) {
    database?.close();
    return faultOrThrow(error, path);
  }
}

/**
 * FULL: a commit is on the disk when it answers. No memory map: a failing disk must be an error, not a signal. A busy file is
 * waited for by `patience.ts`, which lets everything else go on; the engine's own wait would hold up the whole server.
 */
const settings = `
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON;
PRAGMA mmap_size = 0; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;
PRAGMA busy_timeout = 20;
`;

function unsound(database: Database): Fault | null {
  if (statSync(database.path).size >= checkedAtOpenBytes) return null;
  const found = quickCheck(database);
  return found === null ? null : damaged(database.path, found);
}
