import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSqliteLog } from "../sqlite-log.ts";
import { openedLog, stillClock, temporaryFolder } from "../testing/temporary.ts";
import { isHomeHeld } from "./home.ts";

const open = (home: string) => openSqliteLog({ home, clock: stillClock });

describe("a home", () => {
  test("[LOG-33] is held by one log at a time; the second is told so, and may have it afterwards", async () => {
    await using home = await temporaryFolder();
    const first = await openedLog(home.path);
    const second = await open(home.path);
    expect(second).toMatchObject({ kind: "fault", code: "log-unavailable", heldHome: home.path });
    expect(isHomeHeld(second)).toBe(true);
    await first.close();
    await using third = await openedLog(home.path);
    expect(await third.tabs()).toEqual([]);
  });

  test("[LOG-33] being held is no other fault, and no other fault is it", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    await writeFile(file, "");
    const fault = await open(file);
    expect(fault).toMatchObject({ kind: "fault", code: "log-unavailable" });
    expect([isHomeHeld(fault), isHomeHeld(null), isHomeHeld({ heldHome: "x" })]).toEqual([false, false, false]);
  });

  test.each([
    ["is a file", async (home: string) => writeFile(home, "")],
    ["lies in a file", async (home: string) => writeFile(join(home, ".."), "").catch(() => writeFile(home, ""))],
    ["has a folder for a database", async (home: string) => mkdir(join(home, "varve.db"), { recursive: true })],
    ["has a folder for a lock", async (home: string) => mkdir(join(home, "varve.lock"), { recursive: true })],
    ["has a file for its blobs", async (home: string) => mkdir(home).then(() => writeFile(join(home, "blobs"), ""))],
  ])("[LOG-34] that %s is one clear fault, and nothing is left held", async (_, spoil) => {
    await using folder = await temporaryFolder();
    const home = join(folder.path, "home");
    await spoil(home);
    for (let again = 0; again < 2; again++) {
      const fault = await open(home);
      expect(fault).toMatchObject({ kind: "fault", code: "log-unavailable" });
      expect(isHomeHeld(fault)).toBe(false);
      expect("message" in fault ? fault.message : "").toContain(home);
    }
  });

  test("[LOG-32] is made with all folders above it, and holds what it says", async () => {
    await using folder = await temporaryFolder();
    const home = join(folder.path, "a", "b");
    const log = await openedLog(home);
    expect((await readdir(home)).filter((name) => !/-(wal|shm)$/.test(name)).sort()).toEqual([
      "blobs",
      "varve.db",
      "varve.lock",
    ]);
    expect(existsSync(join(home, "open-blocks.db"))).toBe(false);
    await log.close();
    expect((await readdir(home)).sort()).toEqual(["blobs", "varve.db", "varve.lock"]);
  });
});
