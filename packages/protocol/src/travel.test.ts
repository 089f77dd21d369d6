import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LogChunk, logChunkSchema, type StoredRow, storedRowSchema } from "./chunk.ts";
import { clipJson } from "./clip.ts";
import { limits } from "./limits.ts";
import { tab, textRow } from "./test-kit.ts";
import { digestLine, digestText, toTravelling, toTravellingWhole } from "./travel.ts";

const stored = (parts: Record<string, unknown>): StoredRow =>
  storedRowSchema.parse({ id: "r", seq: 7, term: 3, turnId: "t", step: 0, createdAt: 5, ...parts });
const text = (length: number): StoredRow =>
  stored({ role: "assistant", type: "text", data: { text: "é".repeat(length) } });
const prefix = stored({
  role: "system",
  type: "system",
  data: {
    kind: "prefix",
    foldVersion: 1,
    system: ["You are Varve — an agent."],
    tools: [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }],
    constants: {},
    instructions: [{ path: "/w/AGENTS.md", bytes: 12, clipped: false }],
    hash: "abc",
  },
});
const sizeOf = (row: LogChunk): number => JSON.stringify(row.data).length;

describe("travelling", () => {
  test("[TRAVEL-1] a row names its tab and is else as it was stored", () => {
    const row = text(3);
    expect(toTravelling(row, tab)).toEqual({ ...row, tabId: tab });
  });
  test("[TRAVEL-2] a prefix row travels as a stub, with the UTF-8 size of what stays behind", () => {
    const stub = toTravelling(prefix, tab);
    const bytes = Buffer.byteLength(JSON.stringify(prefix.data));
    expect(stub.data).toEqual({
      kind: "prefix",
      hash: "abc",
      bytes,
      instructions: [{ path: "/w/AGENTS.md", bytes: 12, clipped: false }],
    });
    expect(JSON.stringify(stub)).not.toContain("You are Varve");
    expect(toTravellingWhole(prefix, tab).data).toEqual(stub.data);
  });
  test("[TRAVEL-3] data at the limit travels whole, one unit more is clipped and marked", () => {
    const atLimit = limits.rowTravelBytesMax - JSON.stringify({ text: "" }).length;
    expect(toTravelling(text(atLimit), tab).clipped).toBeUndefined();
    const clipped = toTravelling(text(atLimit + 1), tab);
    expect(clipped.clipped).toBe(true);
    expect(sizeOf(clipped)).toBeLessThanOrEqual(limits.rowTravelBytesMax);
    expect(sizeOf(clipped)).toBeGreaterThan(limits.rowTravelBytesMax - 10);
    expect(toTravellingWhole(text(atLimit + 1), tab)).not.toHaveProperty("clipped");
  });
  test.each([
    ["a text", { role: "assistant", type: "text", data: { text: "a".repeat(300_000) } }],
    ["text of which each unit takes six", { role: "user", type: "text", data: { text: "\u0001".repeat(100_000) } }],
    [
      "thinking with a long signature",
      {
        role: "assistant",
        type: "thinking",
        data: { text: "t", modelScope: "m", metadata: { signature: "s".repeat(400_000) } },
      },
    ],
    [
      "a call whose arguments stand twice",
      {
        role: "assistant",
        type: "tool_call",
        data: {
          callId: "c",
          name: "write",
          arguments: { path: "/w/a", content: "x".repeat(200_000) },
          argsText: "y".repeat(220_000),
        },
      },
    ],
    [
      "a result with many small details",
      {
        role: "tool",
        type: "tool_result",
        data: {
          callId: "c",
          name: "grep",
          result: "found",
          isError: false,
          details: { lines: Array.from({ length: 20_000 }, (_, i) => `line ${i}`) },
        },
      },
    ],
    [
      "arguments of many small parts",
      {
        role: "assistant",
        type: "tool_call",
        data: {
          callId: "c",
          name: "todo",
          arguments: { items: Array.from({ length: 30_000 }, (_, i) => ({ n: i })) },
          argsText: "",
        },
      },
    ],
    ["an error", { role: "system", type: "error", data: { message: "m".repeat(200_000) } }],
    [
      "a compaction",
      {
        role: "system",
        type: "system",
        data: { kind: "compaction", summary: "s".repeat(500_000), keepFrom: 3, keptUserSeqs: [1] },
      },
    ],
  ])("[TRAVEL-3] clipped, %s is still a legal row within the limit", (_name, parts) => {
    const row = toTravelling(stored(parts), tab);
    expect(row.clipped).toBe(true);
    expect(sizeOf(row)).toBeLessThanOrEqual(limits.rowTravelBytesMax);
    expect(logChunkSchema.parse(row)).toEqual(row);
    expect(row).toMatchObject({ id: "r", seq: 7, term: 3 });
  });
  test("[TRAVEL-4] clipping never cuts a surrogate pair and says the same every time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.integer({ min: 20, max: 900 }), (piece, max) => {
        const value = { text: piece.repeat(3), name: "kept" };
        const clipped = clipJson(value, max);
        expect(clipJson(value, max)).toEqual(clipped);
        if (JSON.stringify(value).length <= max) expect(clipped).toBe(value);
        const cut = JSON.stringify(clipped);
        expect(cut.isWellFormed()).toBe(true);
        expect(JSON.parse(cut).name).toBe("kept");
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("digests", () => {
  test("[TRAVEL-5] a line is seq, id, term and the data as they travel", () => {
    expect(digestLine(textRow({ id: "a", seq: 2, term: 9, text: "hi" }))).toBe('2 a 9 {"text":"hi"}\n');
  });
  test("[TRAVEL-5] what travelled as JSON has the digest of what was sent", () => {
    const rows = [text(5), prefix, text(400_000)].map((row) => toTravelling(row, tab));
    const received: readonly LogChunk[] = JSON.parse(JSON.stringify(rows));
    const sha = (content: string): string => createHash("sha256").update(content).digest("hex");
    expect(sha(digestText(received))).toBe(sha(digestText(rows)));
    expect(digestText(rows)).toBe(rows.map(digestLine).join(""));
  });
});
