import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accept, claimed, ids, said, sealed, usage, userText } from "../contract/fixtures.ts";
import { openedLog, temporaryFolder } from "../testing/temporary.ts";
import { checkStore } from "./check.ts";

const pageBytes = 4096;

/** A log of many rows, messages and lines of the bill, all of it in the database file. */
async function grownLog(home: string, rows: number) {
  const log = await openedLog(home);
  const claim = await claimed(log);
  for (let at = 0; at < rows; at += 100) {
    const message = ids.chunk();
    await sealed(log, claim, {
      rows: [
        userText(["t1", 0], "x", message),
        usage(["t1", 0]),
        ...Array.from({ length: 98 }, (_, one) =>
          said(["t1", 0], `${one} ${"y".repeat(one % 20 === 0 ? 3_000 : 500)}`),
        ),
      ],
      inbox: [accept(message, "sealed")],
    });
  }
  log.store.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return log;
}

describe("the check of a large file", () => {
  test("[LOG-101] is done in pieces, between which everything else has its turn", async () => {
    await using home = await temporaryFolder();
    await using log = await grownLog(home.path, 3_000);
    let turns = 0;
    const giveWay = async (): Promise<void> => {
      turns += 1;
    };
    expect(await checkStore(log.store, { wholeBelowBytes: 0, giveWay })).toBeNull();
    const inPieces = turns;
    turns = 0;
    expect(await checkStore(log.store, { giveWay })).toBeNull();
    expect(inPieces - turns).toBeGreaterThanOrEqual(3_000 / 300);
  });

  test("[LOG-101] ends when the log is closed between two pieces, wherever that is", async () => {
    await using home = await temporaryFolder();
    {
      await using _ = await grownLog(home.path, 700);
    }
    for (const pieces of [0, 1, 2, 5, 6]) {
      await using log = await openedLog(home.path);
      let turns = 0;
      const giveWay = async (): Promise<void> => {
        if (turns++ === pieces) await log.close();
      };
      expect(await checkStore(log.store, { wholeBelowBytes: 0, giveWay })).toMatchObject({ code: "shutting-down" });
    }
  });

  test("[LOG-101] finds a damaged page wherever in the rows it is, and stops all writing", async () => {
    await using home = await temporaryFolder();
    const pages = await (async () => {
      await using log = await grownLog(home.path, 500);
      const roots = log.store.database.prepare("PRAGMA page_count").get();
      return Number(Object.values(roots ?? {})[0]);
    })();
    const found: boolean[] = [];
    for (const share of [0.3, 0.5, 0.7, 0.9]) {
      await using log = await openedLog(home.path);
      const at = Math.floor(pages * share) * pageBytes;
      const file = await openFile(join(home.path, "varve.db"), "r+");
      const kept = Buffer.alloc(pageBytes);
      await file.read(kept, 0, pageBytes, at);
      await file.write(Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, at);
      log.store.database.exec("PRAGMA shrink_memory");
      const fault = await checkStore(log.store, { wholeBelowBytes: 0 });
      found.push(fault?.code === "log-damaged");
      if (fault !== null) expect(await log.putSetting("a", "b")).toMatchObject({ code: "log-damaged" });
      await file.write(kept, 0, pageBytes, at);
      await file.close();
    }
    expect(found).toEqual([true, true, true, true]);
  });

  test.each(["sqlite_autoindex_chunks_1", "sqlite_autoindex_chunks_2"])(
    "[LOG-101] finds a row that %s has lost",
    async (name) => {
      await using home = await temporaryFolder();
      await using log = await grownLog(home.path, 100);
      const { database } = log.store;
      const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name)?.rootpage;
      await loseLastEntry(join(home.path, "varve.db"), Number(root) - 1);
      database.exec("PRAGMA shrink_memory");
      expect(await checkStore(log.store, { wholeBelowBytes: 0 })).toMatchObject({ code: "log-damaged" });
    },
  );
});

/** Takes the last entry off the first leaf below an index's root: every page is sound, and one row is not found any more. */
async function loseLastEntry(path: string, root: number): Promise<void> {
  const file = await openFile(path, "r+");
  const page = Buffer.alloc(pageBytes);
  await file.read(page, 0, pageBytes, root * pageBytes);
  const [leaf, inner] = [0x0a, 0x02];
  const at = page[0] === inner ? page.readUInt32BE(page.readUInt16BE(12)) - 1 : root;
  await file.read(page, 0, pageBytes, at * pageBytes);
  if (page[0] !== leaf) throw new Error(`page ${at} is no leaf of an index`);
  page.writeUInt16BE(page.readUInt16BE(3) - 1, 3);
  await file.write(page, 0, pageBytes, at * pageBytes);
  await file.close();
}
