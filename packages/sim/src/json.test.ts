import { describe, expect, test } from "vitest";
import { findIllFormed, isObject, objectsIn, parseJson, stringOr } from "./json.ts";

describe("the first text that is not well formed is named by its path", () => {
  test.each<[unknown, string | null]>([
    ["fine 😀", null],
    ["\ud83d", ""],
    [{ a: { b: ["x", "y\ude00"] } }, "a.b.1"],
    [{ a: 1, "\ud83d": 2 }, "\ud83d"],
    [["x", { deep: "\ude00\ud83d" }], "1.deep"],
    [[1, null, true, {}], null],
  ])("%j", (value, path) => {
    expect(findIllFormed(value)).toBe(path);
  });
});

test("unknown values are narrowed without guessing", () => {
  expect([isObject({}), isObject([]), isObject(null), isObject("x")]).toEqual([true, false, false, false]);
  expect(objectsIn([{ a: 1 }, "x", null, [2]])).toEqual([{ a: 1 }]);
  expect(objectsIn("x")).toEqual([]);
  expect([stringOr("a", "b"), stringOr(1, "b")]).toEqual(["a", "b"]);
  expect([parseJson("[1]"), parseJson("{"), parseJson("null")]).toEqual([[1], undefined, null]);
});
