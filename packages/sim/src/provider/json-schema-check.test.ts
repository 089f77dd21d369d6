import { describe, expect, test } from "vitest";
import { schemaProblem } from "./json-schema-check.ts";

const withProperty = (schema: unknown) => ({ type: "object", properties: { x: schema } });

describe("schemas of tools", () => {
  test.each<[string, unknown]>([
    ["nothing but the type", { type: "object" }],
    ["the usual keywords", { ...withProperty({ type: "string", description: "d", enum: ["a"] }), required: ["x"] }],
    ["a list of types", withProperty({ type: ["string", "null"] })],
    ["nested lists and choices", withProperty({ type: "array", items: { anyOf: [{ type: "string" }, true] } })],
    ["closed objects", { type: "object", additionalProperties: false }],
    ["keywords that nobody knows", withProperty({ "x-note": 1, format: "uri" })],
    ["definitions", { type: "object", $defs: { a: { type: "string" } }, properties: { x: { $ref: "#/$defs/a" } } }],
  ])("pass with %s", (_name, schema) => {
    expect(schemaProblem(schema)).toBeNull();
  });

  test.each<[string, unknown, RegExp]>([
    ["no schema", undefined, /^input_schema: must be an object/],
    ["a list", [], /must be an object/],
    ["no type", {}, /must be "object"/],
    ["an unknown type", withProperty({ type: "text" }), /properties\.x\.type/],
    ["no types", withProperty({ type: [] }), /properties\.x\.type/],
    ["properties as a list", { type: "object", properties: [] }, /properties: must be an object/],
    ["a property that is a word", withProperty("string"), /properties\.x: must be an object or a boolean/],
    ["required as a word", { type: "object", required: "x" }, /required/],
    ["an empty enum", withProperty({ enum: [] }), /enum/],
    ["a number as description", withProperty({ description: 1 }), /description/],
    ["an empty choice", withProperty({ anyOf: [] }), /anyOf/],
    [
      "a broken schema deep inside",
      withProperty({ items: { oneOf: [{ not: { type: "x" } }] } }),
      /oneOf\.0\.not\.type/,
    ],
  ])("fail with %s", (_name, schema, words) => {
    expect(schemaProblem(schema)).toMatch(words);
  });
});
