/**
 * Each release's definitions are a contract: they stand frozen in open logs. For a new release, add a file with the definitions
 * as they are then, and let `newest` name it; the older files never change.
 */
import type { JsonObject, ToolDefinition } from "@varve/protocol";
import { toolDefinitionSchema } from "@varve/protocol/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import first from "./released/0.1.0.json" with { type: "json" };
import second from "./released/0.2.0.json" with { type: "json" };
import third from "./released/0.3.0.json" with { type: "json" };
import { retiredTools, unknownToolText } from "./retired.ts";
import { scratch } from "./testing/scratch.ts";

const definitions = z.array(toolDefinitionSchema);
const releases: readonly (readonly [string, readonly ToolDefinition[]])[] = [
  ["0.1.0", definitions.parse(first)],
  ["0.2.0", definitions.parse(second)],
  ["0.3.0", definitions.parse(third)],
];
const [newest] = releases.slice(-1);
const released = releases.flatMap(([version, list]) => list.map((one) => [version, one.name, one] as const));

/** One harmless call of each tool that was ever released, valid under its schema, with every optional argument said. */
const calls: Readonly<Record<string, JsonObject>> = {
  ask: { question: "Which one?", options: ["a", "b"] },
  bash: { command: "echo hi", timeoutMs: 10_000, background: false },
  edit: { path: "a.txt", oldText: "one", newText: "two", replaceAll: false },
  fetch: { url: "http://127.0.0.1:1/" },
  glob: { pattern: "*.txt", path: "." },
  grep: { pattern: "o", path: ".", glob: "*.txt", literal: true, ignoreCase: true, context: 1 },
  job: { action: "list" },
  list: { path: "." },
  patch: { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n" },
  read: { path: "a.txt", offset: 1, limit: 10 },
  recall: { query: "x" },
  todo: { items: [{ text: "x", state: "open" }] },
  write: { path: "new.txt", content: "x" },
};

type Schema = { readonly [key: string]: unknown };
const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;
const numberOf = (value: unknown, unless: number): number => (typeof value === "number" ? value : unless);

/** Values that the schema allows. Knows what our own schemas are made of, and fails on anything else. */
function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (!isSchema(schema)) throw new Error("a schema is an object");
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string": {
      const minLength = numberOf(schema.minLength, 0);
      return fc.string({ minLength, maxLength: Math.min(40 + minLength, numberOf(schema.maxLength, 40)) });
    }
    case "integer":
      return fc.integer({
        min: Math.max(numberOf(schema.minimum, -1_000), Number.MIN_SAFE_INTEGER),
        max: Math.min(numberOf(schema.maximum, 1_000_000), 2 ** 31 - 1),
      });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valuesOf(schema.items), {
        minLength: numberOf(schema.minItems, 0),
        maxLength: Math.min(4, numberOf(schema.maxItems, 4)),
      });
    case "object": {
      const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
      const required = Array.isArray(schema.required) ? schema.required : [];
      const model = Object.fromEntries(properties.map(([name, inner]) => [name, valuesOf(inner)]));
      return fc.record(model, { requiredKeys: required });
    }
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

describe("released definitions", () => {
  test("[TOOL-110] the newest are what new logs get, byte for byte", async () => {
    await using at = scratch();
    expect(JSON.stringify(at.box.definitions)).toBe(JSON.stringify(newest?.[1]));
  });

  test.each(released)("[TOOL-111] %s %s: any valid arguments are taken", async (_version, name, definition) => {
    await using at = scratch();
    const tool = at.box.get(name);
    if (tool === undefined) {
      expect(retiredTools[name]).toBeDefined();
      return;
    }
    await fc.assert(
      fc.asyncProperty(valuesOf(definition.inputSchema), async (args) => {
        // The generator above made it of strings, numbers, booleans, lists and records alone.
        const prepared = await tool.prepare(args as JsonObject, at.place);
        if ("error" in prepared) expect(prepared.error).not.toMatch(/^The arguments of/);
      }),
      { numRuns: 15 },
    );
  });

  test.each(released)("[TOOL-111] %s %s: a call of then runs now", async (_version, name, definition) => {
    await using at = scratch();
    at.file("a.txt", "one\n");
    const args = calls[name] ?? expect.fail(`there is a call of ${name}`);
    expect(z.fromJSONSchema(z.record(z.string(), z.any()).parse(definition.inputSchema)).safeParse(args).success).toBe(
      true,
    );
    const outcome = await at.call(name, args, { ask: async () => "a" });
    expect(outcome.text).not.toMatch(/^(The arguments of|There is no tool|The tool .* is no longer)/);
    // Nothing answers at that address, and no rows are there to be found.
    expect(outcome.isError).toBe(name === "fetch");
  });

  test("[TOOL-112] a tool that is gone names what to use instead; one that never was names what there is", () => {
    const retired = { cat: 'Use "read" instead.' };
    expect(unknownToolText("cat", ["read"], retired)).toBe('The tool "cat" is no longer there. Use "read" instead.');
    expect(unknownToolText("dog", ["read"], retired)).toBe('There is no tool named "dog". The tools are: read.');
    expect(unknownToolText("constructor", ["read"])).toContain("There is no tool");
  });
});
