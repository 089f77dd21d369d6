/** What must hold of a home with a torn end: it opens, and each log in it is a dense beginning of what the sound one holds. */
import { type Log, openSqliteLog, verifyRows } from "@varve/log";
import { type Clock, isFault, type LogId, type StoredRow } from "@varve/protocol";
import { startChild } from "../e2e/child.ts";
import { within } from "../e2e/within.ts";
import type { TornHome } from "./torn-copy.ts";

const noTimers: Clock = {
  now: () => 0,
  setTimer: () => {
    throw new Error("the log sets no timers");
  },
};

/** All rows of all tabs of a home that no server holds, by log. */
export type HomeRows = ReadonlyMap<LogId, readonly string[]>;

/** Throws when the home cannot be opened. */
export async function rowsOfHome(
  home: string,
): Promise<{ readonly rows: HomeRows; readonly problems: readonly string[] }> {
  const log = await openSqliteLog({ home, clock: noTimers });
  if (isFault(log)) throw new Error(`the home ${home} cannot be opened: ${log.message}`);
  try {
    return await readAll(log);
  } finally {
    await log.close();
  }
}

async function readAll(log: Log): Promise<{ readonly rows: HomeRows; readonly problems: readonly string[] }> {
  const found = new Map<LogId, readonly string[]>();
  const problems: string[] = [];
  for (const tab of await log.tabs()) {
    const rows = await rowsOf(log, tab.logId);
    if (rows.length !== tab.tail) problems.push(`tab ${tab.id} says ${tab.tail} rows and has ${rows.length}`);
    problems.push(...verifyRows(rows).map((problem) => JSON.stringify(problem)));
    found.set(
      tab.logId,
      rows.map((row) => JSON.stringify(row)),
    );
    log.journal.blocksOf(tab.id);
  }
  const damage = await log.check();
  return { rows: found, problems: damage === null ? problems : [...problems, damage.message] };
}

async function rowsOf(log: Log, logId: LogId): Promise<readonly StoredRow[]> {
  const rows: StoredRow[] = [];
  for (;;) {
    const page = await log.page({ logId, after: rows.length, limit: 500 });
    if (isFault(page)) throw new Error(page.message);
    rows.push(...page.rows);
    if (page.rows.length === 0 || rows.length >= page.tail) return rows;
  }
}

/** A line for each log of the torn home that is no beginning of the same log in the sound one. */
export function prefixProblems(torn: HomeRows, whole: HomeRows): readonly string[] {
  return [...torn].flatMap(([logId, rows]) => {
    const sound = whole.get(logId) ?? [];
    const differs = rows.findIndex((row, at) => row !== sound[at]);
    return differs < 0 ? [] : [`torn log ${logId} differs at row ${differs + 1}`];
  });
}

/** The product starts on the torn home and comes to listen; else a line that says so. */
export async function startProblems(home: TornHome, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const child = startChild({ args: ["--port", "0", "--no-open"], env: { ...env, VARVE_HOME: home.path } });
  try {
    await within("a server starts on a torn home", child.says(/listening on/));
    child.signal("SIGTERM");
    const { code } = await within("it ends when asked", child.exited);
    return code === 0 ? [] : [`a server on a torn home (${home.damage}) ended with ${code}: ${child.err()}`];
  } catch (error) {
    child.signal("SIGKILL");
    return [`a server on a torn home (${home.damage}): ${String(error)}`];
  }
}
