import { describe, expect, test } from "vitest";
import { sound } from "../contract/fixtures.ts";
import { bindable, compareVersions, loadEngine, type SqlValue } from "./driver.ts";

const open = async () => sound(await loadEngine()).open(":memory:");

describe("the driver", () => {
  test.each<[SqlValue, unknown, string]>([
    [true, 1, "integer"],
    [false, 0, "integer"],
    [undefined, null, "null"],
    [null, null, "null"],
    [7, 7, "integer"],
    [-3, -3, "integer"],
    [2 ** 40, 2 ** 40, "integer"],
    [-(2 ** 40), -(2 ** 40), "integer"],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "integer"],
    [12n, 12, "integer"],
    [1.5, 1.5, "real"],
    ["text", "text", "text"],
    ["", "", "text"],
  ])("[LOG-38] %s is kept as %s, which SQLite calls %s", async (value, expected, type) => {
    const database = await open();
    database.exec("CREATE TABLE t (v ANY) STRICT");
    database.prepare("INSERT INTO t (v) VALUES (?)").run(value);
    expect(database.prepare("SELECT v, typeof(v) AS type FROM t").get()).toStrictEqual({ v: expected, type });
    database.close();
  });

  test("[LOG-38] a whole number that fits no integer stays the float it is", () => {
    expect([2 ** 60, 0.5, 2 ** 31, -1].map(bindable)).toEqual([2 ** 60, 0.5, 2n ** 31n, -1n]);
  });

  test("[LOG-38] rows are ordinary objects, absence is undefined", async () => {
    const database = await open();
    database.exec("CREATE TABLE t (v INTEGER)");
    const insert = database.prepare("INSERT INTO t (v) VALUES (?)");
    expect([1, 2, 3].map((v) => insert.run(v))).toEqual([1, 1, 1]);
    expect(database.prepare("SELECT v FROM t ORDER BY v").all()).toStrictEqual([1, 2, 3].map((v) => ({ v })));
    expect(database.prepare("SELECT v FROM t WHERE v = 9").get()).toBeUndefined();
    database.exec("DROP TABLE t");
    database.close();
    database.close();
  });

  test.each([
    ["3.51.3", "3.51.3", 0],
    ["3.51.2", "3.51.3", -1],
    ["3.9.9", "3.51.3", -1],
    ["3.51.10", "3.51.3", 1],
    ["3.53", "3.51.3", 1],
    ["4.0.0", "3.51.3", 1],
  ])("[LOG-29] version %s against %s", (a, b, expected) => {
    expect(Math.sign(compareVersions(a, b))).toBe(expected);
  });
});
