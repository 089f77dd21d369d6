import type { Json } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, setOwn, wellFormedJson, wellFormedObject, wellFormedText } from "./well-formed.ts";

describe("well-formed", () => {
  test.each([
    ["plain", "plain"],
    ["whole 😀", "whole 😀"],
    ["a\ud83d", "a\ufffd"],
    ["\ude00b", "\ufffdb"],
    ["\ud83d\ud83d\ude00", "\ufffd😀"],
  ])("[WIRE-15] the text %j", (text, expected) => {
    expect(wellFormedText(text)).toBe(expected);
  });

  test("[WIRE-15] what is whole stays the same value, not a copy", () => {
    const whole: Json = { a: ["x", { b: null, c: 1.5 }], d: "😀" };
    expect(wellFormedJson(whole)).toBe(whole);
  });

  test("[WIRE-15] any depth and any key is repaired, and the rest is kept", () => {
    const broken: Json = { a: ["x", { "k\ud83d": ["\ude00"] }], n: null, b: false };
    expect(wellFormedJson(broken)).toEqual({ a: ["x", { "k\ufffd": ["\ufffd"] }], n: null, b: false });
  });

  test("[WIRE-15] for any JSON the result is well-formed, and repairing twice is repairing once", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.string({ unit: "binary" }), (value, key) => {
        // A value made by `jsonValue` is JSON.
        const once = wellFormedObject({ [key]: value as Json, lone: "\ud83d" });
        expect(wellFormedObject(once)).toBe(once);
        expect(JSON.stringify(once).isWellFormed()).toBe(true);
        expect(JSON.stringify(once)).not.toMatch(/\\ud[89ab]/i);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  test("[WIRE-15] a key __proto__ is set as any other", () => {
    const target: Record<string, Json> = {};
    setOwn(target, "__proto__", { x: 1 });
    expect(Object.keys(target)).toEqual(["__proto__"]);
    expect(isObject(target) && Object.getPrototypeOf(target)).toBe(Object.prototype);
  });
});
