import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isNineCharCallId,
  isPlainCallId,
  isToolNameOnWire,
  nineCharCallId,
  plainCallId,
  toolNameOnWire,
} from "./wire-ids.ts";

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
);
const runs = { seed: 3, numRuns: 400 };

describe("names on the wire", () => {
  test("[WIRE-14] any id becomes a legal one, the same each time, and a legal one stays", () => {
    fc.assert(
      fc.property(anyText, (id) => {
        expect(isPlainCallId(plainCallId(id))).toBe(true);
        expect(isNineCharCallId(nineCharCallId(id))).toBe(true);
        expect(plainCallId(plainCallId(id))).toBe(plainCallId(id));
        expect(nineCharCallId(nineCharCallId(id))).toBe(nineCharCallId(id));
        if (isPlainCallId(id)) expect(plainCallId(id)).toBe(id);
      }),
      runs,
    );
  });

  test("[WIRE-14] different ids stay different", () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `call|${index}`);
    expect(new Set(ids.map(plainCallId)).size).toBe(ids.length);
    expect(new Set(ids.map(nineCharCallId)).size).toBe(ids.length);
  });

  test.each([
    ["read", "read"],
    ["functions.read", "functions_read"],
    ["", "unknown_tool"],
    ["x".repeat(70), "x".repeat(64)],
    ["läs", "l_s"],
  ])("[WIRE-14] the tool name %j goes out as %j", (name, expected) => {
    expect(toolNameOnWire(name)).toBe(expected);
  });

  test("[WIRE-14] any tool name becomes a legal one", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        expect(isToolNameOnWire(toolNameOnWire(name))).toBe(true);
      }),
      runs,
    );
  });
});
