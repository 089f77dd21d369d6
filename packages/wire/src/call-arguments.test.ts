import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argumentsDepthMax, parseArguments } from "./call-arguments.ts";

const nested = (depth: number) => `${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`;

const table: readonly (readonly [string, string, { valid: boolean; verbatim: boolean; json: string }])[] = [
  ["an object", '{"a":1}', { valid: true, verbatim: true, json: '{"a":1}' }],
  ["blanks inside", '{ "k":1 }', { valid: true, verbatim: true, json: '{"k":1}' }],
  ["nothing", "", { valid: true, verbatim: false, json: "{}" }],
  ["blanks only", " \n", { valid: true, verbatim: false, json: "{}" }],
  ["a cut object", '{"a":', { valid: false, verbatim: false, json: '{"_invalid":"{\\"a\\":"}' }],
  ["a list", "[1]", { valid: false, verbatim: false, json: '{"_invalid":"[1]"}' }],
  ["a text", '"x"', { valid: false, verbatim: false, json: '{"_invalid":"\\"x\\""}' }],
  ["null", "null", { valid: false, verbatim: false, json: '{"_invalid":"null"}' }],
  ["a number", "7", { valid: false, verbatim: false, json: '{"_invalid":"7"}' }],
  ["words", "run it", { valid: false, verbatim: false, json: '{"_invalid":"run it"}' }],
  ["two objects", "{}{}", { valid: false, verbatim: false, json: '{"_invalid":"{}{}"}' }],
  ["a prototype key", '{"__proto__":{"x":1}}', { valid: true, verbatim: false, json: '{"__proto__":{"x":1}}' }],
  [
    "a prototype key in a list",
    '{"a":[{"__proto__":1}]}',
    { valid: true, verbatim: false, json: '{"a":[{"__proto__":1}]}' },
  ],
  ["an escaped prototype key", '{"\\u005f_proto__":1}', { valid: true, verbatim: false, json: '{"__proto__":1}' }],
  [
    "a constructor with a prototype",
    '{"constructor":{"prototype":1}}',
    { valid: true, verbatim: false, json: '{"constructor":{"prototype":1}}' },
  ],
  ["a constructor alone", '{"constructor":"x"}', { valid: true, verbatim: true, json: '{"constructor":"x"}' }],
  ["half an emoji, escaped", '{"a":"\\ud83d"}', { valid: true, verbatim: false, json: '{"a":"\ufffd"}' }],
  ["half an emoji, raw", '{"a":"\ud83d"}', { valid: true, verbatim: false, json: '{"a":"\ufffd"}' }],
  ["half an emoji in a key", '{"\\ud83d":1}', { valid: true, verbatim: false, json: '{"\ufffd":1}' }],
  ["half an emoji in what is no object", "\ud83d", { valid: false, verbatim: false, json: '{"_invalid":"\ufffd"}' }],
  ["a big integer", '{"n":12345678901234567890}', { valid: true, verbatim: true, json: '{"n":12345678901234567000}' }],
  ["a key twice", '{"a":1,"a":2}', { valid: true, verbatim: true, json: '{"a":2}' }],
];

describe("arguments", () => {
  test.each(table)("[WIRE-12] %s", (_, text, { valid, verbatim, json }) => {
    const parsed = parseArguments(text);
    expect([parsed.valid, parsed.verbatim, JSON.stringify(parsed.value)]).toEqual([valid, verbatim, json]);
  });

  test("[WIRE-12] a key __proto__ sets no prototype, also where a text beside it was repaired", () => {
    const { value } = parseArguments('{"__proto__":{"admin":true},"b":"\\ud83d"}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.admin).toBeUndefined();
    expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true},"b":"\ufffd"}');
  });

  test("[WIRE-12] nesting up to the limit is an object, beyond it malformed", () => {
    expect(parseArguments(nested(argumentsDepthMax)).valid).toBe(true);
    expect(parseArguments(nested(argumentsDepthMax + 1)).valid).toBe(false);
    expect(parseArguments(nested(100_000)).valid).toBe(false);
  });

  test("[WIRE-12] any JSON object comes back as itself, any text as some object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (object) => {
        const text = JSON.stringify(object);
        expect(JSON.stringify(parseArguments(text).value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { seed: 1, numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { value } = parseArguments(text);
        expect(typeof value === "object" && !Array.isArray(value)).toBe(true);
        expect(JSON.stringify(value).isWellFormed()).toBe(true);
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});
