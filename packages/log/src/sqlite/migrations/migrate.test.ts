import { existsSync, readFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseTabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { claimed, said, sealed, sound, usage } from "../../contract/fixtures.ts";
import { openSqliteLog } from "../../sqlite-log.ts";
import { openedLog, stillClock, temporaryFolder } from "../../testing/temporary.ts";
import { loadEngine } from "../driver.ts";
import { applicationId, newestSchema } from "./migrate.ts";
import { schema1 } from "./schema-1.ts";

/** The ancestor's database, from its description: what goes, and the five tables that stay. */
const ancestor = `
CREATE TABLE tabs (id TEXT PRIMARY KEY, title TEXT NOT NULL, model TEXT, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, tab_id TEXT NOT NULL REFERENCES tabs (id), role TEXT, content_json TEXT);
CREATE TABLE chunks (id TEXT PRIMARY KEY, tab_id TEXT NOT NULL, seq INTEGER NOT NULL, data_json TEXT NOT NULL);
CREATE INDEX idx_chunks_tab_seq ON chunks (tab_id, seq);
INSERT INTO tabs VALUES ('t', 'old', 'm', 1);
INSERT INTO messages VALUES ('m', 't', 'user', '[]');
INSERT INTO chunks VALUES ('c', 't', 1, '{}');
`;
const kept = `
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE credentials (key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, access_token TEXT NOT NULL, refresh_token TEXT,
  expires_at INTEGER, subscription_type TEXT, source_file TEXT, imported_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE api_keys (key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, api_key TEXT NOT NULL,
  imported_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE usage_cache (key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, cached_at INTEGER NOT NULL, report_json TEXT NOT NULL);
CREATE TABLE wake_schedule (hour INTEGER PRIMARY KEY, next_wake_at INTEGER);
CREATE TABLE something_else (a TEXT);
INSERT INTO settings VALUES ('theme', 'dark');
INSERT INTO credentials VALUES ('c1', 'anthropic', 'at', 'rt', 9, 'max', '/f', 1, 2);
INSERT INTO api_keys VALUES ('k1', 'openai', 'sk-1', 3, 4);
INSERT INTO usage_cache VALUES ('k1', 'openai', 5, '{"a":1}');
INSERT INTO wake_schedule VALUES (7, 99);
INSERT INTO something_else VALUES ('stays');
`;
/** What a first Varve had written: a tab, a fork of it with a row of its own, and rows that a purge left to a fork. */
const spent = {
  kind: "usage",
  model: "m1",
  fresh: 10,
  read: 0,
  write5m: 5,
  write1h: null,
  output: 7,
  reasoning: null,
  price: 0.125,
  attainable: 0,
} as const;
const cause = { kind: "expired", tokens: 3, idleMs: 4 } as const;
const usageText = (more: object): string => JSON.stringify({ ...spent, raw: { a: 1 }, ...more });
const ofSchema1 = `
INSERT INTO logs VALUES ('l1', NULL, 0, 1), ('l2', NULL, 0, 1), ('l3', 'l1', 2, 1);
INSERT INTO segments VALUES ('l3', 1, 2, 'l1'), ('l3', 3, NULL, 'l3');
INSERT INTO tabs VALUES (1, 'tab', 'T', '/', 'm', 'default', 'ask', NULL, 'l1', 2, 0, 1, 1, NULL);
INSERT INTO tabs VALUES (2, 'fork', 'F', '/', 'm', 'default', 'ask', NULL, 'l3', 2, 0, 1, 1, NULL);
INSERT INTO tab_logs VALUES (1, 'tab', 'l1'), (2, 'fork', 'l3');
INSERT INTO chunks VALUES
  ('l1', 1, 'a', 2, 't1', 4, 'system', 'system', '${usageText({})}', 5, NULL, NULL),
  ('l1', 2, 'b', 2, 't1', 4, 'system', 'system', '{"kind":"turn-end","reason":"done"}', 6, NULL, NULL),
  ('l2', 1, 'c', 2, 't8', 0, 'system', 'system', '${usageText({ purpose: "warm", cause, startedAt: 7 })}', 8, NULL, NULL),
  ('l3', 3, 'd', 2, 't9', 0, 'system', 'system',
    '${usageText({ model: "m2", price: null, fresh: null, attainable: null })}', 9.5, NULL, NULL),
  ('l3', 4, 'e', 2, 't9', 0, 'user', 'text', '{"text":"\\"kind\\":\\"usage\\""}', 10, 'me', NULL);
`;
const keptTables = ["settings", "credentials", "api_keys", "usage_cache", "wake_schedule", "something_else"];

const engine = async () => sound(await loadEngine());
async function makeFile(path: string, sql: string): Promise<void> {
  const database = (await engine()).open(path);
  database.exec(sql);
  database.close();
}
async function contents(path: string, tables: readonly string[]): Promise<unknown> {
  const database = (await engine()).open(path);
  const found = tables.map((table) => [table, database.prepare(`SELECT * FROM ${table}`).all()]);
  const shapes = database
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE name IN ('${keptTables.join("','")}') ORDER BY name`)
    .all();
  database.close();
  return { found, shapes };
}
const open = (home: string, importDb?: string) => openSqliteLog({ home, clock: stillClock, importDb });
const database = (home: { readonly path: string }) => join(home.path, "varve.db");

describe("migration", () => {
  test.each([
    ["with messages", ancestor],
    ["with messages, in a write-ahead log", `PRAGMA journal_mode = WAL; ${ancestor}`],
    ["with messages and a number of its own", `${ancestor} PRAGMA user_version = 42;`],
    ["whose last version had dropped its messages", `${ancestor} DROP TABLE messages;`],
  ])(
    "[LOG-37] takes over the ancestor's database %s: five tables stay as they were, after a backup",
    async (_, sql) => {
      await using home = await temporaryFolder();
      await makeFile(database(home), sql + kept);
      const before = await contents(database(home), keptTables);
      const log = await openedLog(home.path);
      expect([await log.tabs(), await log.setting("theme")]).toEqual([[], "dark"]);
      expect(await log.keys()).toEqual([
        { keyId: "k1", provider: "openai", secret: "sk-1", baseUrl: null, importedAt: 3, updatedAt: 4 },
      ]);
      await sealed(log, await claimed(log), { rows: [said(["t1", 0], "works")] });
      expect(await log.check()).toBeNull();
      await log.close();
      expect(await contents(database(home), keptTables)).toEqual(before);
      const backup = `${database(home)}.before-migration-${newestSchema}`;
      expect(await contents(backup, keptTables)).toEqual(before);
      expect(await contents(backup, ["tabs", "chunks"])).toMatchObject({
        found: [
          ["tabs", [{ id: "t" }]],
          ["chunks", [{ id: "c" }]],
        ],
      });
    },
  );

  test("[LOG-37] is done once: the next start makes no backup and changes nothing", async () => {
    await using home = await temporaryFolder();
    await makeFile(database(home), ancestor + kept);
    for (let start = 0; start < 3; start++) await (await openedLog(home.path)).close();
    const backups = (await readdir(home.path)).filter((name) => name.includes("before-migration"));
    expect(backups).toEqual([`varve.db.before-migration-${newestSchema}`]);
  });

  test("[LOG-37] an earlier backup is never overwritten", async () => {
    await using home = await temporaryFolder();
    await makeFile(database(home), ancestor + kept);
    const earlier = `${database(home)}.before-migration-${newestSchema}`;
    await writeFile(earlier, "an earlier copy");
    await (await openedLog(home.path)).close();
    expect(readFileSync(earlier, "utf8")).toBe("an earlier copy");
    expect(await contents(`${earlier}.2`, ["messages"])).toMatchObject({ found: [["messages", [{ id: "m" }]]] });
  });

  test("[LOG-37] that fails leaves the file as it was", async () => {
    await using home = await temporaryFolder();
    // A table that the ancestor never had stands where one of ours shall be.
    await makeFile(database(home), `${ancestor} ${kept} CREATE TABLE inbox (x TEXT);`);
    await expect(open(home.path)).rejects.toThrow(/inbox/);
    expect(await contents(database(home), ["messages", "tabs"])).toMatchObject({
      found: [
        ["messages", [{ id: "m" }]],
        ["tabs", [{ id: "t" }]],
      ],
    });
  });

  test("[LOG-41] imports a named file into a new home, once, and only reads it", async () => {
    await using home = await temporaryFolder();
    await using elsewhere = await temporaryFolder();
    const source = join(elsewhere.path, "dispatch.db");
    await makeFile(source, ancestor + kept);
    const bytes = readFileSync(source);
    for (let start = 0; start < 2; start++) {
      await using log = await openedLog(home.path, source);
      expect(await log.setting("theme")).toBe("dark");
      await log.putSetting("start", String(start));
    }
    expect(readFileSync(source).equals(bytes)).toBe(true);
    await using log = await openedLog(home.path);
    expect(await log.settings()).toEqual({ theme: "dark", start: "1" });
  });

  test("[LOG-41] refuses to import into a home that is in use, from nothing, or from another program's file", async () => {
    await using home = await temporaryFolder();
    await using fresh = await temporaryFolder();
    const source = join(home.path, "other.db");
    await makeFile(source, "CREATE TABLE t (a)");
    expect(await open(fresh.path, source)).toMatchObject({ code: "bad-request" });
    expect(await open(fresh.path, join(home.path, "missing.db"))).toMatchObject({ code: "bad-request" });
    expect(existsSync(join(home.path, "missing.db"))).toBe(false);
    await (await openedLog(home.path)).close();
    expect(await open(home.path, source)).toMatchObject({ code: "bad-request" });
    await using log = await openedLog(home.path);
    expect(await log.tabs()).toEqual([]);
  });

  test("[LOG-51] a file of schema 1 keeps everything and gets its bill from its usage rows", async () => {
    await using home = await temporaryFolder();
    await makeFile(
      database(home),
      `${schema1} ${ofSchema1} PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1;`,
    );
    await using log = await openedLog(home.path);
    const entries = await log.billEntries({});
    expect(entries).toEqual([
      {
        tabId: "fork",
        logId: "l3",
        seq: 3,
        turnId: "t9",
        step: 0,
        at: 9.5,
        usage: { ...spent, model: "m2", price: null, fresh: null, attainable: null },
      },
      {
        tabId: "l2",
        logId: "l2",
        seq: 1,
        turnId: "t8",
        step: 0,
        at: 8,
        usage: { ...spent, cause, startedAt: 7, purpose: "warm" },
      },
      { tabId: "tab", logId: "l1", seq: 1, turnId: "t1", step: 4, at: 5, usage: spent },
    ]);
    expect(
      (await log.billSums({})).map(({ tabId, purpose, requests, price }) => [tabId, purpose, requests, price]),
    ).toEqual([
      ["fork", "step", 1, 0],
      ["l2", "warm", 1, 0.125],
      ["tab", "step", 1, 0.125],
    ]);
    expect((await log.tabs()).map(({ id, options, title }) => [id, options, title])).toEqual([
      ["tab", {}, "T"],
      ["fork", {}, "F"],
    ]);
    const before = `${database(home)}.before-migration-${newestSchema}`;
    expect(await contents(before, ["tabs"])).toMatchObject({ found: [["tabs", [{ id: "tab" }, { id: "fork" }]]] });
    const claim = sound(await log.claim(sound(await log.tab(sound(parseTabId("tab")))).id, 99));
    expect(await log.billSums({})).toEqual(await log.billSums({ from: 0 }));
    const { rows } = await sealed(log, claim, { rows: [usage(["t2", 0])] });
    expect(await log.billSums({})).toEqual(await log.billSums({ from: 0 }));
    expect([rows[0]?.seq, (await log.billEntries({})).length]).toEqual([3, 4]);
  });

  test("[LOG-51] a line of the bill never changes and is never removed", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    await sealed(log, await claimed(log), { rows: [usage(["t1", 0])] });
    expect(() => log.store.database.exec("UPDATE bills SET price = 0")).toThrow(/never changes/);
    expect(() => log.store.database.exec("DELETE FROM bills")).toThrow(/never removed/);
    expect(await log.billEntries({})).toHaveLength(1);
  });

  test.each([
    [
      "a later schema",
      async (path: string) => {
        const file = (await engine()).open(path);
        file.exec(`PRAGMA user_version = ${newestSchema + 1}`);
        file.close();
      },
      /later Varve/,
    ],
    [
      "another program's database",
      async (path: string) => {
        const file = (await engine()).open(path);
        file.exec("PRAGMA application_id = 7; CREATE TABLE t (a)");
        file.close();
      },
      /another program/,
    ],
  ] as const)("[LOG-42] %s is refused with nothing touched", async (_, prepare, message) => {
    await using home = await temporaryFolder();
    const first = await openedLog(home.path);
    await sealed(first, await claimed(first), { rows: [said(["t1", 0], "kept")] });
    await first.close();
    await prepare(database(home));
    const before = readFileSync(database(home));
    const fault = await open(home.path);
    expect(fault).toMatchObject({ kind: "fault", code: "log-unavailable" });
    expect("message" in fault ? fault.message : "").toMatch(message);
    expect(readFileSync(database(home)).equals(before)).toBe(true);
    expect((await readdir(home.path)).filter((name) => name.includes("before"))).toEqual([]);
  });
});
