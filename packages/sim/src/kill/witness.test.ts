import { emptyTabState, type LogChunk, type OpenCell, parseChunkId, parseTurnId, type TabState } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { Witness } from "./witness.ts";

// Rows and cells with the fields that a witness looks at.
const text = (seq: number, id: string, data: object): LogChunk =>
  ({ id, seq, term: 7, role: "assistant", type: "text", data }) as LogChunk;
function open(text: string, said: string, role: "assistant" | "tool" = "assistant"): OpenCell {
  const [id, turnId] = [parseChunkId(text), parseTurnId("t1")];
  if (id === null || turnId === null) throw new Error("these are legal ids");
  return {
    state: "open",
    id,
    block: { id, turnId, step: 0, index: 0, role, type: "text", at: 0 },
    text: said,
    at: [7, 1],
  };
}

function saw(rows: readonly LogChunk[], cells: readonly OpenCell[] = []): Witness {
  const state: TabState = {
    ...emptyTabState,
    sealed: new Map(rows.map((row) => [row.id, { state: "sealed", id: row.id, row }])),
    open: new Map(cells.map((cell) => [cell.id, cell])),
  };
  const witness = new Witness();
  witness.saw(state);
  return witness;
}

describe("a witness", () => {
  const seen = text(1, "a", { text: "hello" });

  test.each<[string, readonly LogChunk[], number]>([
    ["as it was", [seen], 0],
    ["gone", [], 1],
    ["with other words", [text(1, "a", { text: "hullo" })], 1],
    ["under another id", [text(1, "b", { text: "hello" })], 1],
    ["under another term", [{ ...seen, term: 8 }], 1],
    ["with its fields in another order", [text(1, "a", { partial: true, text: "hello" })], 1],
  ])("[SIM-61] finds a sealed row %s", (_how, rows, problems) => {
    expect(saw([seen]).rowProblems(rows)).toHaveLength(problems);
  });

  test("[SIM-61] finds fields of data in another order", () => {
    const witness = saw([text(1, "a", { text: "hello", partial: true })]);
    expect(witness.rowProblems([text(1, "a", { partial: true, text: "hello" })])).toHaveLength(1);
  });

  test.each<[string, readonly LogChunk[], number, number]>([
    ["kept in part", [text(1, "a", { text: "hell", partial: true })], 4, 0],
    ["kept whole, and more", [text(1, "a", { text: "hello you", partial: true })], 5, 0],
    ["lost", [], 0, 0],
    ["kept in part without saying so", [text(1, "a", { text: "hell" })], 4, 1],
    ["kept as another text", [text(1, "a", { text: "help", partial: true })], 4, 1],
  ])("[SIM-62] says of an open block how much is %s", (_how, rows, kept, problems) => {
    const witness = saw([], [open("a", "hello"), open("tool", "output", "tool")]);
    const settled = witness.settleOpen(rows);
    expect(settled.shares).toEqual([{ seen: 5, kept }]);
    expect(settled.problems).toHaveLength(problems);
    expect(witness.settleOpen(rows).shares).toEqual([]);
  });
});
