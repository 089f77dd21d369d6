import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@varve/protocol";
import { startMs } from "../contract/fixtures.ts";
import { openSqliteLog, SqliteLog } from "../sqlite-log.ts";

/** A folder of a test's own, gone at its end. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "varve-log-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The log takes the time and nothing else from a clock. */
export const stillClock: Clock = {
  now: () => startMs,
  setTimer: () => {
    throw new Error("the log sets no timers");
  },
};

/** A SQLite log of a home, or the end of the test. */
export async function openedLog(home: string, importDb?: string): Promise<SqliteLog & AsyncDisposable> {
  const log = await openSqliteLog({ home, clock: stillClock, importDb });
  if (!(log instanceof SqliteLog)) throw new Error(`expected a log, got ${JSON.stringify(log)}`);
  return Object.assign(log, { [Symbol.asyncDispose]: () => log.close() });
}
