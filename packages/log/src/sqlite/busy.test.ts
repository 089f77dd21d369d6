import { join } from "node:path";
import { type Clock, isFault } from "@varve/protocol";
import { createFakeClock, type FakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { accept, allRows, claimed, ids, newTab, said, sealed, sound, startMs } from "../contract/fixtures.ts";
import { openSqliteLog, SqliteLog } from "../sqlite-log.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { verifyRows } from "../verify-rows.ts";
import { type Database, loadEngine } from "./driver.ts";
import { busyWaitMs } from "./patience.ts";

async function opened(home: string, clock: Clock): Promise<SqliteLog & AsyncDisposable> {
  const log = await openSqliteLog({ home, clock });
  if (!(log instanceof SqliteLog)) throw new Error(JSON.stringify(log));
  return Object.assign(log, { [Symbol.asyncDispose]: () => log.close() });
}

/** Another program that has the database open, and holds its write lock until `let go`. */
async function otherProgram(home: string): Promise<Database> {
  const engine = await loadEngine();
  if (isFault(engine)) throw new Error(engine.message);
  const other = engine.open(join(home, "varve.db"));
  other.exec("BEGIN EXCLUSIVE");
  return other;
}

async function until(clock: FakeClock, over: Promise<unknown>, msMax: number): Promise<number> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  for (let passed = 0; passed <= msMax; passed += 25) {
    await clock.advance(25);
    await new Promise((resolve) => setImmediate(resolve));
    if (isOver) return passed + 25;
  }
  throw new Error(`it was not over after ${msMax} ms`);
}

describe("a database that another program holds", () => {
  test.each([1_000, 10_000])(
    "[LOG-100] for %i ms: every write waits for it and goes through, and reads go on",
    async (heldMs) => {
      await using home = await temporaryFolder();
      const clock = createFakeClock();
      await using log = await opened(home.path, clock);
      const claim = await claimed(log);
      await sealed(log, claim, { rows: [said(["t1", 0], "before")] });
      const other = await otherProgram(home.path);
      const writes = Promise.all([
        log.commit(claim, { rows: [said(["t1", 0], "during")], inbox: [accept(ids.chunk())] }),
        log.createTab(newTab()),
        log.changeTab(claim.tabId, { title: "changed" }),
        log.putSetting("a", "b"),
        log.blobs.put(new Uint8Array([1, 2, 3]), "x/y"),
      ]);
      await expect(until(clock, writes, heldMs)).rejects.toThrow("not over");
      expect((await allRows(log, claim.logId)).length).toBe(1);
      expect(await log.tab(claim.tabId)).toMatchObject({ title: "A tab" });
      other.exec("ROLLBACK");
      other.close();
      await until(clock, writes, 1_000);
      const [commit, tab, changed, setting, blob] = await writes;
      expect([commit.kind, setting]).toEqual(["committed", null]);
      for (const value of [tab, changed, blob]) sound(value);
      const rows = await allRows(log, claim.logId);
      expect([rows.length, verifyRows(rows)]).toEqual([2, []]);
    },
  );

  test("[LOG-100] for longer than the log waits: a fault that says so, nothing is written, and the same batch goes through later", async () => {
    await using home = await temporaryFolder();
    const clock = createFakeClock();
    await using log = await opened(home.path, clock);
    const claim = await claimed(log);
    const other = await otherProgram(home.path);
    const batch = { rows: [said(["t1", 0], "late")] };
    const first = log.commit(claim, batch);
    expect(await until(clock, first, busyWaitMs * 2)).toBeGreaterThanOrEqual(busyWaitMs);
    expect(await first).toMatchObject({ kind: "failed", fault: { code: "log-unavailable" } });
    other.exec("ROLLBACK");
    other.close();
    expect((await sealed(log, claim, batch)).tail).toBe(1);
  });

  test("[LOG-100] while it waits the log can be closed: the write says that it is", async () => {
    await using home = await temporaryFolder();
    const clock = createFakeClock();
    const log = await opened(home.path, clock);
    const claim = sound(await log.claim((await claimed(log)).tabId, startMs));
    const other = await otherProgram(home.path);
    const write = log.commit(claim, { rows: [said(["t1", 0], "never")] });
    await log.close();
    await until(clock, write, 1_000);
    expect(await write).toMatchObject({ kind: "failed", fault: { code: "shutting-down" } });
    other.close();
  });
});
