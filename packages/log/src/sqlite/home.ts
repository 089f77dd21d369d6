import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Fault, fault, isFault } from "@varve/protocol";
import type { Database, Engine } from "./driver.ts";
import { faultOf, sqliteCode } from "./sqlite-fault.ts";

export interface HomePaths {
  readonly home: string;
  readonly database: string;
  readonly lock: string;
  readonly journal: string;
  readonly blobs: string;
}

export const homePaths = (home: string): HomePaths => ({
  home,
  database: join(home, "varve.db"),
  lock: join(home, "varve.lock"),
  journal: join(home, "open-blocks.db"),
  blobs: join(home, "blobs"),
});

/** The home belongs to another server. Distinct, because a second start answers it by showing the first one's address. */
export interface HomeHeld extends Fault {
  readonly heldHome: string;
}
export const isHomeHeld = (value: unknown): value is HomeHeld => isFault(value) && "heldHome" in value;

const homeHeld = (home: string): HomeHeld => ({
  ...fault(
    "log-unavailable",
    `Another Varve server holds this home (${home}).`,
    "Use that one, stop it, or start with another --home.",
  ),
  heldHome: home,
});

/** Makes what is missing, readable by its owner alone. What is there keeps its permissions. */
export function makeHome(paths: HomePaths): Fault | null {
  try {
    mkdirSync(paths.blobs, { recursive: true, mode: 0o700 });
    return null;
  } catch (error) {
    return faultOrThrow(error, paths.home);
  }
}

/** An empty file is an empty database; made by us so that nobody else can read what will be in it. */
export function touchFile(path: string): Fault | null {
  try {
    closeSync(openSync(path, "a", 0o600));
    return null;
  } catch (error) {
    return faultOrThrow(error, path);
  }
}

/**
 * Holds the home for as long as this process lives: an exclusive transaction on a side database that nothing else uses.
 * The system lets go of it however the process ends, so there is no stale lock to clean up.
 */
export function lockHome(engine: Engine, paths: HomePaths): Database | Fault {
  const touched = touchFile(paths.lock);
  if (touched !== null) return touched;
  let database: Database | null = null;
  try {
    database = engine.open(paths.lock);
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    return isBusy(error) ? homeHeld(paths.home) : faultOrThrow(error, paths.lock);
  }
}

const isBusy = (error: unknown): boolean => sqliteCode(error) === 5 || sqliteCode(error) === 6;

export function faultOrThrow(error: unknown, path: string): Fault {
  const found = faultOf(error, path);
  if (found === null) throw error;
  return found;
}
