import { copyFile, cp, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allRows, call, claimed, ids, result, said, sealed, sound, startMs } from "./contract/fixtures.ts";
import { describeLogContract } from "./contract.ts";
import { FaultError } from "./fault-error.ts";
import { compareVersions, oldestSafeVersion } from "./sqlite/driver.ts";
import { openedLog, temporaryFolder } from "./testing/temporary.ts";

describeLogContract("the SQLite log", async () => {
  const folder = await temporaryFolder();
  const log = await openedLog(folder.path);
  const close = async () => {
    await log.close();
    await folder[Symbol.asyncDispose]();
  };
  return { log, [Symbol.asyncDispose]: close };
});

const say = (text: string) => ({ rows: [said(["t1", 0], text)] });

describe("the SQLite log", () => {
  test("[LOG-29] runs on an engine without the write-ahead-log fault, and says which", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    expect(["node:sqlite", "@photostructure/sqlite"]).toContain(log.engine.name);
    expect(compareVersions(log.engine.version, oldestSafeVersion)).toBeGreaterThanOrEqual(0);
  });

  test("[LOG-30] writes through a synced write-ahead log, with foreign keys, without a memory map", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    const pragmas = ["journal_mode", "synchronous", "foreign_keys", "mmap_size", "recursive_triggers"];
    const values = pragmas.map((name) => Object.values(log.store.database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    expect(values).toEqual(["wal", 2, 1, 0, 1]);
  });

  test("[LOG-31] a sealed row cannot be changed, removed or replaced, by whatever statement", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    const claim = await claimed(log);
    await sealed(log, claim, say("a"));
    const before = await allRows(log, claim.logId);
    const columns = "log_id, seq, id, term, turn_id, step, role, type, data_json, created_at";
    const statements = [
      "UPDATE chunks SET data_json = '{}'",
      "UPDATE chunks SET seq = seq",
      "DELETE FROM chunks",
      "DELETE FROM chunks WHERE seq > 0",
      `INSERT OR REPLACE INTO chunks (${columns}) SELECT ${columns} FROM chunks`,
      `UPDATE OR REPLACE chunks SET seq = 1`,
    ];
    for (const sql of statements) expect(() => log.store.database.exec(sql), sql).toThrow(/sealed row/);
    expect(await allRows(log, claim.logId)).toEqual(before);
  });

  test("[LOG-31] no purge leaves the way to removal open", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    const [gone, stays] = [await claimed(log), await claimed(log)];
    for (const claim of [gone, stays]) await sealed(log, claim, say("a"));
    await log.changeTab(gone.tabId, { trashedAt: startMs });
    expect(await log.purge(gone.tabId)).toBeNull();
    expect(() => log.store.database.exec("DELETE FROM chunks")).toThrow(/sealed row/);
    expect((await allRows(log, stays.logId)).length).toBe(1);
  });

  test("[LOG-3] everything is there after closing and opening again", async () => {
    await using home = await temporaryFolder();
    const first = await openedLog(home.path);
    const claim = await claimed(first);
    await sealed(first, claim, say("a"));
    const child = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 1 } as const;
    sound(await first.point(claim, child, startMs));
    await sealed(first, sound(await first.claim(claim.tabId, startMs)), say("b"));
    const { blob } = sound(await first.blobs.put(new Uint8Array([1, 2]), "x/y"));
    first.journal.write([
      { entry: "open", tabId: claim.tabId, logId: child.logId, id: ids.chunk(), meta: { step: 1 } },
    ]);
    const before = [await first.tabs(), await allRows(first, child.logId), first.journal.blocksOf(claim.tabId)];
    await first.close();
    await using again = await openedLog(home.path);
    expect([await again.tabs(), await allRows(again, child.logId), again.journal.blocksOf(claim.tabId)]).toEqual(
      before,
    );
    expect((await again.blobs.get(blob))?.mediaType).toBe("x/y");
    expect((await allRows(again, child.logId)).length).toBe(2);
  });

  test("[LOG-39] after close every answer is a clear one, and closing twice is fine", async () => {
    await using home = await temporaryFolder();
    const log = await openedLog(home.path);
    const claim = await claimed(log);
    await log.close();
    await log.close();
    expect(await log.commit(claim, say("a"))).toMatchObject({ kind: "failed", fault: { code: "shutting-down" } });
    expect(await log.page({ logId: claim.logId, limit: 1 })).toMatchObject({ code: "shutting-down" });
    await expect(log.tabs()).rejects.toBeInstanceOf(FaultError);
    log.journal.write([{ entry: "closed", tabId: claim.tabId, id: ids.chunk() }]);
    expect(log.journal.faults()).toBe(0);
  });

  test.each([[0], [1], [3], [7]])(
    "[LOG-54] a tail guessed as %i is found out by the statement that goes by it",
    async (guess) => {
      await using home = await temporaryFolder();
      await using log = await openedLog(home.path);
      const claim = await claimed(log);
      await sealed(log, claim, say("a"));
      await sealed(log, claim, say("b"));
      await sealed(log, claim, say("c"));
      log.store.guessTail(claim.logId, guess);
      const outcome = await sealed(log, claim, say("d"));
      expect([outcome.tail, outcome.rows.map((row) => row.seq)]).toEqual([4, [4]]);
      expect((await allRows(log, claim.logId)).map((row) => row.seq)).toEqual([1, 2, 3, 4]);
    },
  );

  test("[LOG-54] a row alone is a fault of the world like any other when the file is gone, also with the log's parts to be read anew", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    const claim = await claimed(log);
    await sealed(log, claim, say("a"));
    log.store.forgetSegments();
    log.store.guessTail(claim.logId, 1);
    await log.close();
    expect(await log.commit(claim, say("b"))).toMatchObject({ kind: "failed", fault: { code: "shutting-down" } });
  });

  test("[LOG-54] a row alone is refused as it would be among others", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    const claim = await claimed(log);
    const [opened, answered] = [call(["t1", 0], "c1"), result(["t1", 0], "c1")];
    for (const row of [opened, answered]) await sealed(log, claim, { rows: [row] });
    expect(await log.commit(claim, { rows: [opened] })).toMatchObject({ kind: "refused", fault: { code: "id-taken" } });
    const second = await log.commit(claim, { rows: [result(["t1", 0], "c1")] });
    expect(second).toMatchObject({ kind: "refused", fault: { code: "result-already-sealed" } });
    sound(await log.claim(claim.tabId, startMs));
    expect(await log.commit(claim, say("late"))).toEqual({ kind: "fenced" });
    expect((await allRows(log, claim.logId)).length).toBe(2);
  });

  test("[LOG-40] an older copy put back gives the same seqs under other terms, so every cursor can tell", async () => {
    await using home = await temporaryFolder();
    await using restored = await temporaryFolder();
    const first = await openedLog(home.path);
    const claim = await claimed(first);
    await sealed(first, claim, say("kept"));
    first.store.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    await copyFile(join(home.path, "varve.db"), join(restored.path, "varve.db"));
    const lost = await sealed(first, claim, say("lost"));
    await first.close();
    await using second = await openedLog(restored.path);
    const again = sound(await second.claim(claim.tabId, startMs + 60_000));
    const anew = await sealed(second, again, say("anew"));
    expect([lost.tail, anew.tail]).toEqual([2, 2]);
    expect((await second.row(claim.logId, 1))?.term).toBe(claim.term);
    expect((await second.row(claim.logId, 2))?.term).not.toBe(lost.rows[0]?.term);
  });

  test("[LOG-3] a copied home is a whole home", async () => {
    await using home = await temporaryFolder();
    await using target = await temporaryFolder();
    const first = await openedLog(home.path);
    const claim = await claimed(first);
    await sealed(first, claim, say("a"));
    // With the log open: what a plain copy of the folder catches, write-ahead log included, is what was committed.
    await cp(home.path, target.path, { recursive: true });
    await first.close();
    await using copy = await openedLog(target.path);
    expect((await allRows(copy, claim.logId)).length).toBe(1);
  });

  test("[LOG-32] what the home holds is readable by its owner alone", async (context) => {
    if (process.platform === "win32") context.skip("Windows has no such permission bits");
    await using folder = await temporaryFolder();
    const home = join(folder.path, "new", "home");
    await using log = await openedLog(home);
    sound(await log.blobs.put(new Uint8Array([1]), "x/y"));
    const mode = async (path: string) => ((await stat(join(home, path))).mode & 0o077).toString(8);
    for (const path of [".", "varve.db", "varve.db-wal", "varve.lock", "blobs"])
      expect([path, await mode(path)]).toEqual([path, "0"]);
  });
});
