/** Compaction, its undo, second prefixes: what counts of a log, and which thinking may still be sent. */
import { describe, expect, test } from "vitest";
import { folded } from "./testing/folded.ts";
import { C, type Draft, K, logOf, N, P, R, T, U, X, XU } from "./testing/rows.ts";
import { show, showAll } from "./testing/show.ts";

const t2 = { turn: "t2" };
const t3 = { turn: "t3" };
const t4 = { turn: "t4" };
const shown = (...drafts: readonly Draft[]) => show(folded(logOf(...drafts)).messages);
const head = [P(), U("a"), K("s1"), T("t1"), U("b", t2), K("s2", t2), T("t2", t2)] as const;

describe("compaction", () => {
  test("[WIRE-17] the summary, the kept user rows, then everything from the given seq", () => {
    expect(shown(...head, X("SUM", 5, [2]), U("c", t3))).toBe('U["SUM"] U["a"] U["b"] A["t2"] U["c"]');
  });

  test("[WIRE-17] notes are kept where the row names them", () => {
    const rows = [P(), N("first"), N("second"), U("a"), T("t"), X("SUM", 6, [3, 4]), U("b", t2)];
    expect(shown(...rows)).toBe('U["SUM"] U["<system-note>second</system-note>"] U["a"] U["b"]');
  });

  test("[WIRE-17] thinking made before it is not sent, thinking made after it is", () => {
    const rows = [...head, X("SUM", 5), U("c", t3), K("s3", t3), T("t3", t3), U("d", t4)];
    expect(shown(...rows)).toBe('U["SUM"] U["b"] A["t2"] U["c"] A[th(s3) "t3"] U["d"]');
  });

  test("[WIRE-17] an undo brings the rows and their thinking back, without the thinking made meanwhile", () => {
    const rows = [
      ...head,
      X("SUM", 5),
      U("c", t3),
      K("s3", t3),
      T("t3", t3),
      XU(8),
      U("d", t4),
      K("s4", t4),
      T("t4", t4),
      U("e", { turn: "t5" }),
    ];
    expect(shown(...rows)).toBe(
      'U["a"] A[th(s1) "t1"] U["b"] A[th(s2) "t2"] U["c"] A["t3"] U["d"] A[th(s4) "t4"] U["e"]',
    );
  });

  test("[WIRE-17] the newest that is not undone counts", () => {
    const two = [...head, X("ONE", 5), U("c", t3), X("TWO", 9), U("d", t4)];
    expect(shown(...two)).toBe('U["TWO"] U["c"] U["d"]');
    expect(shown(...two, XU(10))).toBe('U["ONE"] U["b"] A["t2"] U["c"] U["d"]');
    expect(shown(...two, XU(8))).toBe('U["TWO"] U["c"] U["d"]');
    expect(shown(...two, XU(10), XU(8))).toBe('U["a"] A[th(s1) "t1"] U["b"] A[th(s2) "t2"] U["c"] U["d"]');
  });

  test("[WIRE-17] undoing what never was changes nothing", () => {
    expect(shown(...head, XU(99), U("c", t3))).toContain("th(s2)");
  });

  test.each([4, 5, 6, 7])(
    "[WIRE-81] a step whose first row is replaced is hidden whole, its steers by themselves: from %i",
    (from) => {
      const rows = [
        P(),
        U("a"),
        T("x"),
        C("c1"),
        C("c2"),
        R("c1", "one"),
        R("c2", "two"),
        U("q"),
        X("SUM", from),
        U("b", t2),
      ];
      const { messages, alarms } = folded(logOf(...rows));
      expect(show(messages)).toBe('U["SUM"] U["q"] U["b"]');
      expect(alarms).toEqual([]);
    },
  );

  test("[WIRE-81] from its first row on it stands whole", () => {
    const rows = [P(), U("a"), T("x"), C("c1"), C("c2"), R("c1", "one"), R("c2", "two"), X("SUM", 3), U("b", t2)];
    expect(shown(...rows)).toBe('U["SUM"] A["x" call(c1,{}) call(c2,{})] T[res(c1,"one") res(c2,"two")] U["b"]');
  });

  test("[WIRE-17] results whose calls are summarised away are no orphans", () => {
    const { messages, alarms } = folded(logOf(P(), U("a"), C("c1"), R("c1"), X("SUM", 4), U("b", t2)));
    expect(show(messages)).toBe('U["SUM"] U["b"]');
    expect(alarms).toEqual([]);
  });
});

describe("prefix rows", () => {
  test("[WIRE-18] the newest counts, and thinking made under an older one is not sent", () => {
    const rows = logOf(...head, P({ system: ["SYS2"] }), U("c", t3), K("s3", t3), T("t3", t3), U("d", t4));
    expect(showAll(folded(rows).messages)).toBe('S["SYS2"] U["a"] A["t1"] U["b"] A["t2"] U["c"] A[th(s3) "t3"] U["d"]');
  });

  test("[WIRE-18] a third brings nothing of the first back", () => {
    const rows = logOf(...head, P({ system: ["SYS2"] }), P(), U("c", t3));
    expect(showAll(folded(rows).messages)).toBe('S["SYS"] U["a"] A["t1"] U["b"] A["t2"] U["c"]');
  });

  test("[WIRE-18] a compaction stays in force across a prefix row", () => {
    expect(shown(...head, X("SUM", 5), P({ system: ["SYS2"] }), U("c", t3))).toBe('U["SUM"] U["b"] A["t2"] U["c"]');
  });

  test("[WIRE-18] blank blocks are no blocks", () => {
    expect(showAll(folded(logOf(P({ system: ["ONE", " "] }), U("a"))).messages)).toBe('S["ONE"] U["a"]');
  });
});
