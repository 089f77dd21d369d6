import type { StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { call, claimed, notice, outside, result, said, sealed, userText } from "./contract/fixtures.ts";
import { memoryLog } from "./memory-log.ts";
import { problemsMax, verifyRows } from "./verify-rows.ts";

async function soundRows(): Promise<readonly StoredRow[]> {
  const log = memoryLog();
  const claim = await claimed(log);
  const rows = [
    userText(["t1", 0], "go"),
    call(["t1", 0], "a"),
    call(["t1", 0], "b"),
    result(["t1", 0], "b"),
    notice(outside),
    result(["t1", 0], "a"),
    said(["t1", 1], "end"),
  ];
  return (await sealed(log, claim, { rows })).rows;
}
const without = (rows: readonly StoredRow[], seq: number) => rows.filter((row) => row.seq !== seq);
const changed = (rows: readonly StoredRow[], seq: number, change: Partial<StoredRow>) =>
  // A changed copy of a row, for the checker to find.
  rows.map((row) => (row.seq === seq ? ({ ...row, ...change } as StoredRow) : row));
const dense = (rows: readonly StoredRow[]) => rows.map((row, at) => ({ ...row, seq: at + 1 }));

describe("the check of rows", () => {
  test("[LOG-28] finds nothing in a sound log, nor in an empty one", async () => {
    expect(verifyRows(await soundRows())).toEqual([]);
    expect(verifyRows([])).toEqual([]);
  });

  test.each<[string, (rows: readonly StoredRow[]) => readonly StoredRow[], readonly [number, RegExp][]]>([
    ["a missing row", (rows) => without(rows, 5), [[6, /Row 6 follows row 4/]]],
    ["a first row that is not 1", (rows) => without(rows, 1), [[2, /follows row 0/]]],
    [
      "rows out of order",
      (rows) => [...rows].reverse().slice(-2),
      [
        [2, /follows row 0/],
        [1, /follows row 2/],
      ],
    ],
    ["a term that goes back", (rows) => changed(rows, 4, { term: 1 }), [[4, /term 1 is behind/]]],
    [
      "an id that stands twice",
      (rows) => changed(rows, 7, { id: rows[0]?.id } as Partial<StoredRow>),
      [[7, /stands twice/]],
    ],
    [
      "a second result",
      (rows) =>
        dense([...rows.slice(0, 6), ...changed(rows.slice(3, 4), 4, { id: "other" } as unknown as Partial<StoredRow>)]),
      [[7, /second result/]],
    ],
    ["a result without a call", (rows) => dense(without(rows, 3)), [[3, /without an open call/]]],
    [
      "a result behind the next step",
      (rows) => dense([...rows.slice(0, 5), ...rows.slice(6), ...rows.slice(5, 6)]),
      [[7, /without an open call/]],
    ],
    ["a call closed by another step's result", (rows) => changed(rows, 4, { step: 3 }), [[6, /without an open call/]]],
  ])("[LOG-28] finds %s", async (_, damage, expected) => {
    const found = verifyRows(damage(await soundRows()));
    expect(found.map(({ seq }) => seq)).toEqual(expected.map(([seq]) => seq));
    for (const [at, [, text]] of expected.entries()) expect(found[at]?.problem).toMatch(text);
  });

  test("[LOG-28] stops at its limit", async () => {
    const [row] = await soundRows();
    const many = row === undefined ? [] : Array.from({ length: 500 }, () => row);
    expect(verifyRows(many).length).toBe(problemsMax);
  });
});
