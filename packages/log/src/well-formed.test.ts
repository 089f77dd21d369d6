import type { Json } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText, plainText, wellFormed } from "./well-formed.ts";

const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 });
/** Any UTF-16 text, lone surrogates and NUL included. */
const anyText = fc
  .oneof(units, fc.array(fc.constantFrom(0xd83d, 0xde00, 0, 0x5c, 0x75, 0x64, 0x38), { maxLength: 8 }))
  .map((codes) => String.fromCharCode(...codes));
const anyJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(anyText, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

describe("well-formed Unicode", () => {
  test("[LOG-4] no text made from any value holds a lone surrogate, and well-formed values are not changed", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = jsonText(value);
        const plain = JSON.stringify(value);
        const parsed: Json = JSON.parse(text);
        expect(isWellFormed(JSON.stringify(parsed))).toBe(true);
        expect(JSON.stringify(parsed)).toBe(text);
        expect(/(?<!\\)(\\\\)*\\ud[89a-f]/.test(text)).toBe(false);
        if (!/\\ud[89a-f]/.test(plain)) expect(text).toBe(plain);
        expect(JSON.stringify(wellFormed(value))).toBe(text);
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ["a\ud800b", "a\uFFFDb"],
    ["\udc00\ud800", "\uFFFD\uFFFD"],
    ["\u{1F600}", "\u{1F600}"],
    ["\ud83d\ud83d\ude00", "\uFFFD\u{1F600}"],
    ["written out: \\ud800", "written out: \\ud800"],
  ])("[LOG-4] %j becomes %j", (before, after) => {
    expect(wellFormed(before)).toBe(after);
    expect(JSON.parse(jsonText({ [before]: [before] }))).toEqual({ [after]: [after] });
  });

  test("[LOG-3] __proto__ is a key like any other, and undefined fields leave no trace", () => {
    const value: Json = JSON.parse('{"b":"\\ud800","__proto__":{"a":1},"2":1,"1":2}');
    expect(jsonText(value)).toBe('{"1":2,"2":1,"b":"\uFFFD","__proto__":{"a":1}}');
    expect(jsonText({ a: undefined, b: "\ud800" })).toBe('{"b":"\uFFFD"}');
  });

  test("[LOG-4] text outside JSON also loses NUL, which an engine would cut it at", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const plain = plainText(text);
        expect(isWellFormed(plain) && !plain.includes("\0")).toBe(true);
        expect(plain.length).toBe(text.length);
      }),
    );
  });
});
