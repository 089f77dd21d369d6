/** Rows in random logs where no right writer seals them. */
import type { StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { blobHash, C, type Draft, logOf, M, N, P, Q, R, RE, RI, T, testTools, U, UA, V, X, XU } from "./rows.ts";

const picture = { blob: blobHash("c"), mediaType: "image/png" };

/** They may stand anywhere, right or not: those of the log around them have to stay what they are. */
const intruders: fc.Arbitrary<Draft> = fc.oneof(
  fc.record({ turn: fc.constantFrom("t1", "t2", "t3"), step: fc.nat(5) }).map(({ turn, step }) => V(turn, step)),
  fc.record({ from: fc.nat(60), kept: fc.array(fc.nat(60), { maxLength: 6 }) }).map((x) => X("SUM", x.from, x.kept)),
  fc.nat(60).map(XU),
  fc.constantFrom(
    P({ system: ["OTHER"] }),
    P({ tools: testTools }),
    P({ tools: testTools, cacheTtl: "1h" }),
    N("a note", { turn: "" }),
    N("a note in a turn", { turn: "t2" }),
    M("m"),
    M("n", "high"),
    Q("scope", { turn: "", model: "m" }),
    Q("scope", { turn: "t1", model: "m" }),
    { ...Q("scope", { turn: "t2", step: 3 }), data: { ...Q("scope").data, purpose: "compaction" } },
    { ...Q("scope", { turn: "" }), data: { ...Q("scope").data, purpose: "warm" } },
    U("outside", { turn: "" }),
    U("late", { turn: "t1", step: 9 }),
    UA("", [{ ...picture, name: "c" }], { turn: "t2" }),
    T("late", { turn: "t1" }),
    T("of no turn", { turn: "" }),
    C("toolu_0", "{}", { turn: "t1", step: 1 }),
    C("of no turn", "{}", { turn: "" }),
    R("of no turn", "late", { turn: "" }),
    RE("toolu_0", "late", { turn: "t2" }),
    RI("toolu_1", "", [picture], { turn: "t1", step: 2 }),
  ),
);

/** Logs with some of them in it, where every one of its rows is decoded with its own seq. */
export const disturbed = (
  logs: fc.Arbitrary<{ readonly rows: readonly StoredRow[] }>,
): fc.Arbitrary<readonly StoredRow[]> =>
  fc
    .record({ log: logs, with: fc.array(fc.record({ at: fc.nat(), row: intruders }), { maxLength: 8 }) })
    .map(({ log, with: added }) => {
      const drafts = log.rows.map(
        ({ role, type, data, turnId, step }): Draft => ({ role, type, data, place: { turn: turnId, step } }),
      );
      for (const { at, row } of added) drafts.splice(1 + (at % drafts.length), 0, row);
      return logOf(...drafts);
    });
