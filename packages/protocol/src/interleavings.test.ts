/**
 * The cases in which earlier systems lost a row, showed one twice or let one linger, at the level of the join. A view here
 * is what a page would show of one tab: each id once.
 */
import { describe, expect, test } from "vitest";
import { applyHead, applyOps, applyRows } from "./apply.ts";
import type { LogChunk } from "./chunk.ts";
import type { HeadFrame, OpsFrame } from "./frame.ts";
import { joinRows, type PendingCell } from "./row.ts";
import { cellOf, emptyTabState, type TabState } from "./tab-state.ts";
import {
  chunkId,
  delta,
  dropped,
  frame,
  head,
  message,
  noTurn,
  openBlock,
  opened,
  permutations,
  queued,
  resultRow,
  sealed,
  status,
  textRow,
  turnId,
} from "./test-kit.ts";

type Arrival =
  | OpsFrame
  | HeadFrame
  | { readonly type: "page"; readonly term: number; readonly rows: readonly LogChunk[] };

/** What a client does with whatever arrives, without its window and outbox. */
function arrive(state: TabState, arrival: Arrival): TabState {
  if (arrival.type === "page") {
    return arrival.term === state.version[0] ? applyRows(state, arrival.rows) : state;
  }
  const outcome = arrival.type === "head" ? applyHead(state, arrival, { answersSub: false }) : applyOps(state, arrival);
  return outcome.kind === "stale" ? state : outcome.state;
}
const arriveAll = (state: TabState, arrivals: readonly Arrival[]): TabState => arrivals.reduce(arrive, state);
const start = arrive(emptyTabState, head(0));

/** Own intent joined with what is known, as a page shows a message it has sent. */
const ownMessage: PendingCell = { state: "pending", id: chunkId("U"), text: "U", attachments: [], delivery: "steer" };
function shown(state: TabState): string {
  const known = cellOf(state, ownMessage.id);
  return (known === undefined ? ownMessage : joinRows(ownMessage, known)).state;
}
const order = (state: TabState): readonly string[] => [
  ...[...state.sealed.values()].sort((a, b) => a.row.seq - b.row.seq).map((cell) => cell.id),
  ...state.open.keys(),
  ...state.queue.keys(),
];
const comparable = ({ seen: _seen, ...state }: TabState): unknown => ({
  ...state,
  sealed: new Map([...state.sealed].sort()),
});

describe("the four invariants of the queue", () => {
  test("[CASE-1] no loss: what is not sealed yet survives the end of a turn", () => {
    const busy = arriveAll(start, [frame(1, [status(), queued("m"), opened("a"), delta("a", 0, "Hi")])]);
    const ended = arriveAll(busy, [
      frame(4, [
        sealed(textRow({ id: "a", seq: 1 })),
        status({ state: "idle", turnId: null, lastSealed: turnId("t1") }),
      ]),
    ]);
    expect(order(ended)).toEqual(["a", "m"]);
    expect(shown(ended)).toBe("pending");
  });
  test("[CASE-2] no duplicate, no linger: a sealed row is nowhere else", () => {
    const consumed = arriveAll(start, [frame(1, [queued("m"), sealed(textRow({ id: "m", seq: 1, role: "user" }))])]);
    expect(order(consumed)).toEqual(["m"]);
    expect(consumed.queue.size).toBe(0);
  });
  test("[CASE-3] the newer turn is preserved: a seal touches one id", () => {
    const newer = arriveAll(start, [
      frame(1, [
        opened("a"),
        opened("b", { turnId: turnId("t2") }),
        delta("b", 0, "newer"),
        sealed(textRow({ id: "a", seq: 1 })),
      ]),
    ]);
    expect(newer.open.get(chunkId("b"))?.text).toBe("newer");
    expect(order(newer)).toEqual(["a", "b"]);
  });
  test("[CASE-4] it may come late and more than once: copies of everything change nothing", () => {
    const frames = [
      frame(1, [queued("m"), opened("a")]),
      frame(3, [dropped("m"), sealed(textRow({ id: "a", seq: 1 }))]),
    ];
    const once = arriveAll(start, frames);
    for (const late of permutations([...frames, head(0)]))
      expect(comparable(arriveAll(once, late))).toEqual(comparable(once));
  });
});

describe("the four bugs of the reconcile step", () => {
  test("[CASE-5] A: a newer turn that streams is not wiped when an older turn's rows come late", () => {
    const streaming = arriveAll(start, [
      frame(1, [
        sealed(textRow({ id: "old", seq: 1 })),
        opened("new", { turnId: turnId("t2") }),
        delta("new", 0, "text"),
      ]),
    ]);
    const paged = arrive(streaming, { type: "page", term: 1, rows: [textRow({ id: "old", seq: 1 })] });
    expect(paged.open.get(chunkId("new"))?.text).toBe("text");
    expect(paged).toBe(streaming);
  });
  test("[CASE-6] B: a queued message outlives the end of the turn before it", () => {
    const waiting = arriveAll(start, [frame(1, [queued("m"), status({ state: "idle", turnId: null })])]);
    expect(waiting.queue.has(chunkId("m"))).toBe(true);
  });
  test("[CASE-7] C: the start of a turn claims no message that still waits", () => {
    const next = arriveAll(start, [
      frame(1, [queued("q1"), queued("q2", { position: 2 }), status({ turnId: turnId("t2") })]),
      frame(4, [sealed(textRow({ id: "q1", seq: 1, role: "user", turn: "t2" }))]),
    ]);
    expect(order(next)).toEqual(["q1", "q2"]);
    expect(next.queue.has(chunkId("q2"))).toBe(true);
  });
  test("[CASE-8] D: a consumed steer stands once, as the row it became, also after every later head", () => {
    const consumed = arriveAll(start, [
      frame(1, [queued("m"), sealed(resultRow("r", 1, "c")), sealed(textRow({ id: "m", seq: 2, role: "user" }))]),
    ]);
    const again = arriveAll(consumed, [
      head(3, { from: 2, tail: 2 }),
      frame(1, [queued("m")]),
      head(3, { from: 2, tail: 2 }),
    ]);
    expect(order(again)).toEqual(["r", "m"]);
  });
  test("[CASE-9] a message that seals at once was never queued: an idle tab shows no waiting", () => {
    const direct = arriveAll(start, [frame(1, [sealed(textRow({ id: "U", seq: 1, role: "user" })), status()])]);
    expect(direct.queue.size).toBe(0);
    expect(shown(direct)).toBe("sealed");
  });
  test("[CASE-9] a tab of which nothing was heard is idle, not running", () => {
    expect(emptyTabState.status).toMatchObject({ state: "idle", turnId: null });
    expect(noTurn).toBe("");
  });
});

describe("reconnecting with overlap, gap and reordering", () => {
  const before = arriveAll(arrive(emptyTabState, head(0, { from: 11, tail: 11 })), [
    frame(1, [opened("A")]),
    frame(2, [delta("A", 0, "Hel")]),
    frame(2, [delta("A", 3, "lo ")]),
  ]);
  const row = textRow({ id: "A", seq: 12, text: "Hello world" });
  const live = frame(2, [delta("A", 9, "ld")]);
  const page: Arrival = { type: "page", term: 1, rows: [] };
  const snapshot = head(1, { from: 11, tail: 11, open: [openBlock("A", "Hello wor")] });
  const replay = frame(2, [delta("A", 3, "lo ")]);
  const seal = frame(2, [sealed(row)]);
  const textOf = (state: TabState): string | undefined =>
    state.open.get(chunkId("A"))?.text ?? (state.sealed.has(chunkId("A")) ? "sealed" : undefined);

  test("[CASE-10] H09: in the order of the report, the text after each arrival", () => {
    const steps: readonly (readonly [Arrival, string])[] = [
      [live, "Hello "],
      [page, "Hello "],
      [snapshot, "Hello wor"],
      [replay, "Hello wor"],
      [live, "Hello world"],
      [seal, "sealed"],
      [seal, "sealed"],
    ];
    let state = before;
    expect(textOf(state)).toBe("Hello ");
    for (const [arrival, text] of steps) {
      state = arrive(state, arrival);
      expect(textOf(state)).toBe(text);
    }
    expect(state.sealed.get(chunkId("A"))?.row).toBe(row);
    expect(state.open.size).toBe(0);
  });
  test("[CASE-10] H09: all 720 orders of the six messages end with the one sealed row", () => {
    const orders = permutations([live, page, snapshot, replay, live, seal]);
    expect(orders).toHaveLength(720);
    const ends = new Set(
      orders.map((arrivals) => {
        const state = arrive(arriveAll(before, arrivals), seal);
        expect(state.open.size).toBe(0);
        return JSON.stringify([[...state.sealed.values()], state.version, state.tail]);
      }),
    );
    expect([...ends]).toEqual([JSON.stringify([[{ state: "sealed", id: "A", row }], [1, 2], 12])]);
  });
});

describe("a snapshot beside what was just sent", () => {
  const rows = Array.from({ length: 10 }, (_, i) => textRow({ id: `c${i + 1}`, seq: i + 1 }));
  const names = rows.map((row) => row.id);
  test("[CASE-11] H11: pending, queued, sealed: exactly one row at every point, and late copies change nothing", () => {
    const reconnected = arriveAll(emptyTabState, [head(0, { rows }), { type: "page", term: 1, rows }]);
    expect([order(reconnected), shown(reconnected)]).toEqual([names, "pending"]);
    const waiting = arrive(reconnected, frame(1, [queued("U")]));
    expect([order(waiting), shown(waiting)]).toEqual([[...names, "U"], "queued"]);
    const done = arrive(waiting, frame(2, [sealed(textRow({ id: "U", seq: 11, role: "user", turn: "t7" }))]));
    expect([order(done), shown(done)]).toEqual([[...names, "U"], "sealed"]);
    for (const late of [
      frame(1, [queued("U")]),
      frame(2, [sealed(textRow({ id: "U", seq: 11 }))]),
      head(1, { rows, queue: [message("U")] }),
    ]) {
      expect(comparable(arrive(done, late))).toEqual(comparable(done));
    }
  });
});

describe("a page that is loaded in the middle of a stream", () => {
  const text = "x".repeat(500);
  const rows = [textRow({ id: "r1", seq: 1 })];
  const live = frame(2, [delta("A", 500, "y")]);
  test("[CASE-12] H13: the open block is there from its first character, then grows", () => {
    const state = arriveAll(emptyTabState, [head(1, { rows, open: [openBlock("A", text)] }), live]);
    expect(state.open.get(chunkId("A"))?.text).toBe(`${text}y`);
  });
  test("[CASE-12] H13: a delta between reading rows and subscribing, or a seal, gives the same rows as an undisturbed client", () => {
    const row = textRow({ id: "A", seq: 2, text: `${text}y` });
    const undisturbed = arriveAll(emptyTabState, [
      head(1, { rows, open: [openBlock("A", text)] }),
      live,
      frame(2, [sealed(row)]),
    ]);
    const late: Arrival = { type: "page", term: 1, rows };
    const racing = [
      [live, late, head(1, { rows, open: [openBlock("A", `${text}y`)] }), frame(2, [sealed(row)])],
      [late, frame(2, [sealed(row)]), head(2, { rows: [...rows, row] }), live],
    ];
    for (const arrivals of racing) {
      const { sealed: rowsThen, open, tail } = arriveAll(emptyTabState, arrivals);
      expect({ rowsThen, open, tail }).toEqual({ rowsThen: undisturbed.sealed, open: undisturbed.open, tail: 2 });
    }
  });
});

describe("order", () => {
  test("[CASE-13] H10: rows stand by seq, whatever their ids and clocks say", () => {
    const ids = ["zzzz", "0000", "mmmm", "aaaa"];
    const rows = ids.map((id, i) => ({ ...textRow({ id, seq: i + 1 }), createdAt: [600_000, -600_000, 0, 0][i] ?? 0 }));
    for (const arrivals of permutations(rows)) {
      const pages = arrivals.map((row): Arrival => ({ type: "page", term: 1, rows: [row] }));
      expect(order(arriveAll(start, pages))).toEqual(ids);
    }
  });
});
