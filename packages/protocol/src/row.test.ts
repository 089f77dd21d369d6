import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Stamp } from "./order.ts";
import { joinRows, type RowCell, type RowState, rowRank } from "./row.ts";
import { chunkId, message, openBlock, textRow } from "./test-kit.ts";

const id = chunkId("m");
const wholeText = "Hello wor😀ld, and much more of it";

const pending = (): RowCell => ({ state: "pending", id, text: "m", attachments: [], delivery: "steer" });
const queuedCell = (version: number, at: Stamp): RowCell => ({
  state: "queued",
  id,
  message: message("m", { version, data: { text: `term ${at[0]} version ${version}` } }),
  at,
});
const openCell = (length: number, at: Stamp): RowCell => {
  const { offset: _offset, text: _text, ...block } = openBlock("m", "");
  return { state: "open", id, block, text: wholeText.slice(0, length), at };
};
const droppedCell = (at: Stamp): RowCell => ({ state: "dropped", id, reason: "cancelled", at });
const sealedCell = (term: number, seq: number): RowCell => ({
  state: "sealed",
  id,
  row: textRow({ id: "m", seq, term }),
});

/** Any cell that one writer could have caused: what it says follows from its stamp, version, length or seq. */
const stamp = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 }));
const anyCell: fc.Arbitrary<RowCell> = fc.oneof(
  fc.constant(pending()),
  fc.tuple(fc.integer({ min: 1, max: 4 }), stamp).map(([version, at]) => queuedCell(version, at)),
  fc.tuple(fc.integer({ min: 0, max: wholeText.length }), stamp).map(([length, at]) => openCell(length, at)),
  stamp.map(droppedCell),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 })).map(([term, seq]) => sealedCell(term, seq)),
);
const runs = { numRuns: 20_000 };

describe("laws of the join", () => {
  test("[JOIN-1] it is commutative", () => {
    fc.assert(
      fc.property(anyCell, anyCell, (a, b) => {
        expect(joinRows(a, b)).toEqual(joinRows(b, a));
      }),
      runs,
    );
  });
  test("[JOIN-1] it is associative", () => {
    fc.assert(
      fc.property(anyCell, anyCell, anyCell, (a, b, c) => {
        expect(joinRows(joinRows(a, b), c)).toEqual(joinRows(a, joinRows(b, c)));
      }),
      runs,
    );
  });
  test("[JOIN-1] it is idempotent, and never makes a new cell where an old one will do", () => {
    fc.assert(
      fc.property(anyCell, (a) => {
        expect(joinRows(a, a)).toBe(a);
        expect(joinRows(a, structuredClone(a))).toBe(a);
      }),
      runs,
    );
  });
  test("[JOIN-1] any order and any repetition of the same cells ends in the same cell", () => {
    const shuffled = fc
      .array(anyCell, { minLength: 1, maxLength: 6 })
      .chain((cells) =>
        fc.tuple(
          fc.constant(cells),
          fc.shuffledSubarray([...cells, ...cells, ...cells], { minLength: cells.length * 3 }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([cells, again]) => {
        expect(again.reduce(joinRows)).toEqual(cells.reduce(joinRows));
      }),
      runs,
    );
  });
  test("[JOIN-1] joining never steps down", () => {
    fc.assert(
      fc.property(anyCell, anyCell, (a, b) => {
        const joined = joinRows(a, b);
        expect(rowRank[joined.state]).toBe(Math.max(rowRank[a.state], rowRank[b.state]));
      }),
      runs,
    );
  });
});

describe("the table of states", () => {
  const states: Readonly<Record<RowState, RowCell>> = {
    pending: pending(),
    queued: queuedCell(2, [1, 4]),
    open: openCell(5, [1, 4]),
    dropped: droppedCell([1, 4]),
    sealed: sealedCell(1, 4),
  };
  /** Rows: what is held. Columns: what arrives. The compiler refuses a table that forgets a cell. */
  const winner: Readonly<Record<RowState, Readonly<Record<RowState, RowState>>>> = {
    pending: { pending: "pending", queued: "queued", open: "open", dropped: "dropped", sealed: "sealed" },
    queued: { pending: "queued", queued: "queued", open: "open", dropped: "dropped", sealed: "sealed" },
    open: { pending: "open", queued: "open", open: "open", dropped: "dropped", sealed: "sealed" },
    dropped: { pending: "dropped", queued: "dropped", open: "dropped", dropped: "dropped", sealed: "sealed" },
    sealed: { pending: "sealed", queued: "sealed", open: "sealed", dropped: "sealed", sealed: "sealed" },
  };
  const cases = Object.entries(winner).flatMap(([held, row]) =>
    Object.entries(row).map(([arrives, wins]) => [held, arrives, wins] as const),
  );
  test.each(cases)("[JOIN-2] %s joined with %s is %s", (held, arrives, wins) => {
    const byName = (name: string): RowCell => {
      const cell = Object.entries(states).find(([state]) => state === name)?.[1];
      expect(cell).toBeDefined();
      return cell ?? pending();
    };
    expect(joinRows(byName(held), byName(arrives))).toBe(byName(wins));
  });
});

describe("within one state", () => {
  test("[JOIN-3] the higher version of a queued message wins, whichever came first", () => {
    const [two, three] = [queuedCell(2, [1, 9]), queuedCell(3, [1, 5])];
    expect(joinRows(two, three)).toBe(three);
    expect(joinRows(three, two)).toBe(three);
  });
  test("[JOIN-3] of one version the later stamp wins", () => {
    const [early, late] = [queuedCell(2, [1, 5]), queuedCell(2, [1, 9])];
    expect(joinRows(late, early)).toBe(late);
  });
  test("[JOIN-3] a later term wins over a higher version: the database was restored", () => {
    const [before, after] = [queuedCell(7, [1, 90]), queuedCell(2, [2, 0])];
    expect(joinRows(before, after)).toBe(after);
    expect(joinRows(after, before)).toBe(after);
  });
  test("[JOIN-4] the longer text of an open block wins, under the later stamp", () => {
    const joined = joinRows(openCell(5, [1, 9]), openCell(9, [1, 4]));
    expect(joined).toMatchObject({ text: wholeText.slice(0, 9), at: [1, 9] });
  });
  test("[JOIN-4] a longer text under the later stamp is taken as it is", () => {
    const longer = openCell(9, [1, 9]);
    expect(joinRows(openCell(5, [1, 4]), longer)).toBe(longer);
  });
  test("[JOIN-5] of two sealed rows the later term is true", () => {
    const [before, after] = [sealedCell(1, 9), sealedCell(2, 4)];
    expect(joinRows(before, after)).toBe(after);
    expect(joinRows(after, before)).toBe(after);
  });
});
