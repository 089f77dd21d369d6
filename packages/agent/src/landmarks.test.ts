import type { StoredRow, SystemData } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { landmarksOf } from "./landmarks.ts";

const row = (seq: number, data: SystemData): StoredRow => ({
  id: `c${seq}` as never,
  turnId: "" as never,
  step: 0,
  seq,
  term: 1,
  createdAt: 0,
  role: "system",
  type: "system",
  data,
});
const note = (seq: number): StoredRow => row(seq, { kind: "note", topic: "x", text: `n${seq}` });
const seqsOf = (rows: readonly StoredRow[]): readonly number[] => landmarksOf(rows).notes.map(({ seq }) => seq);

describe("what the model is given beside its work", () => {
  test("a list that has grown is read on, one whose rows are others is read anew", () => {
    const rows = [note(1), row(2, { kind: "compaction", summary: "S", keepFrom: 2, keptUserSeqs: [] })];
    expect(seqsOf(rows)).toEqual([1]);
    rows.push(note(3), row(4, { kind: "compaction-undo", compactionSeq: 2 }));
    expect(seqsOf(rows)).toEqual([1, 3]);
    expect([...landmarksOf(rows).undone]).toEqual([2]);
    expect(landmarksOf(rows).compactions).toHaveLength(1);
    rows.length = 0;
    rows.push(note(1), note(2), note(3), note(4));
    expect(seqsOf(rows)).toEqual([1, 2, 3, 4]);
    expect(landmarksOf(rows).compactions).toEqual([]);
  });
});
