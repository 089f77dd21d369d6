import { type ChunkId, limits } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkId, textRow } from "./test-kit/owner.ts";
import { denseRun, rowSize, withinLimits } from "./window.ts";

const rowsOf = (from: number, to: number, text = "x") =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => textRow({ id: `r${from + i}`, seq: from + i, text }));
const nothing: ReadonlySet<ChunkId> = new Set();
const seqs = (rows: readonly { readonly seq: number }[]) => [rows[0]?.seq, rows.at(-1)?.seq];

describe("the dense run", () => {
  test.each([
    ["high", [5, 6]],
    ["low", [1, 3]],
  ] as const)("[WINDOW-1] rows with a hole keep the part at the %s end", (end, expected) => {
    expect(seqs(denseRun([...rowsOf(5, 6), ...rowsOf(1, 3)], end))).toEqual(expected);
  });
  test("[WINDOW-1] any rows in any order become ascending and dense", () => {
    const anySeqs = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1 });
    fc.assert(
      fc.property(anySeqs, fc.constantFrom<"low" | "high">("low", "high"), (list, end) => {
        const run = denseRun(
          list.map((seq) => textRow({ id: `r${seq}`, seq })),
          end,
        );
        expect(run.every((row, i) => i === 0 || row.seq === (run[i - 1]?.seq ?? 0) + 1)).toBe(true);
        expect(run[end === "low" ? 0 : run.length - 1]?.seq).toBe(
          end === "low" ? Math.min(...list) : Math.max(...list),
        );
      }),
    );
  });
});

describe("the limits", () => {
  test.each([
    ["low", [11, 410]],
    ["high", [1, 400]],
  ] as const)("[WINDOW-2] rows beyond the limit leave at the %s end", (end, expected) => {
    expect(seqs(withinLimits(rowsOf(1, 410), { end, pinned: nothing }))).toEqual(expected);
  });
  test("[WINDOW-2] within the limits nothing is copied", () => {
    const rows = rowsOf(1, limits.windowRowsMax);
    expect(withinLimits(rows, { end: "low", pinned: nothing })).toBe(rows);
  });
  test("[WINDOW-2] bytes count as well, and one row always stays", () => {
    const big = rowsOf(1, 50, "x".repeat(120_000));
    const kept = withinLimits(big, { end: "low", pinned: nothing });
    expect(kept.reduce((sum, row) => sum + rowSize(row), 0)).toBeLessThanOrEqual(limits.windowBytesMax);
    expect(kept.length).toBeGreaterThan(30);
    const huge = rowsOf(1, 2, "x".repeat(limits.windowBytesMax));
    expect(seqs(withinLimits(huge, { end: "low", pinned: nothing }))).toEqual([2, 2]);
  });
  test("[WINDOW-3] a pinned row is never evicted: rows leave at the other end", () => {
    const rows = rowsOf(1, 410);
    expect(seqs(withinLimits(rows, { end: "low", pinned: new Set([chunkId("r1")]) }))).toEqual([1, 400]);
    expect(seqs(withinLimits(rows, { end: "low", pinned: new Set([chunkId("r5")]) }))).toEqual([5, 404]);
    expect(withinLimits(rows, { end: "low", pinned: new Set([chunkId("r1"), chunkId("r410")]) })).toBe(rows);
  });
});

describe("rows of any size that travel", () => {
  /** A row's data travels clipped to `rowTravelBytesMax`, so no row can be larger than a window; here each is as large. */
  const largest = limits.rowTravelBytesMax;
  test("[WINDOW-100] whatever their sizes, the rest is the longest run at the read end that is within both limits", () => {
    const sizes = fc.array(fc.constantFrom(1, 1_000, 50_000, largest), { minLength: 1, maxLength: 450 });
    fc.assert(
      fc.property(sizes, fc.constantFrom<"low" | "high">("low", "high"), (list, end) => {
        const rows = list.map((size, i) => textRow({ id: `r${i + 1}`, seq: i + 1, text: "x".repeat(size) }));
        const kept = withinLimits(rows, { end, pinned: nothing });
        const bytes = kept.reduce((sum, row) => sum + rowSize(row), 0);
        expect(kept.length).toBeLessThanOrEqual(limits.windowRowsMax);
        expect(bytes).toBeLessThanOrEqual(limits.windowBytesMax);
        const next = end === "low" ? rows[rows.length - kept.length - 1] : rows[kept.length];
        const full = kept.length === limits.windowRowsMax || bytes + (next ? rowSize(next) : 0) > limits.windowBytesMax;
        expect(next === undefined || full).toBe(true);
        expect(kept.at(end === "low" ? -1 : 0)).toBe(rows.at(end === "low" ? -1 : 0));
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(rows.length, 31));
      }),
      { numRuns: 40 },
    );
  });
});
