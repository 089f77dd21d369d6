import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHead, applyOp, applyOps, applyRows, isStamped, namedId } from "./apply.ts";
import type { HeadFrame, OpsFrame } from "./frame.ts";
import type { Op } from "./op.ts";
import type { RowCell } from "./row.ts";
import { cellOf, emptyTabState, forgetRows, type TabState } from "./tab-state.ts";
import {
  chunkId,
  delta,
  dropped,
  frame,
  head,
  log,
  logId,
  message,
  openBlock,
  opened,
  output,
  queued,
  resultRow,
  sealed,
  status,
  textRow,
} from "./test-kit.ts";

const answersSub = { answersSub: true };
const pushed = { answersSub: false };

function afterHead(frameOf: HeadFrame, state: TabState = emptyTabState): TabState {
  const outcome = applyHead(state, frameOf, answersSub);
  return outcome.kind === "applied" ? outcome.state : state;
}
function after(state: TabState, ...frames: readonly OpsFrame[]): TabState {
  return frames.reduce((current, next) => {
    const outcome = applyOps(current, next);
    return outcome.kind === "applied" ? outcome.state : current;
  }, state);
}
const base = afterHead(head(0));
const textOf = (state: TabState, id: string): string | undefined => state.open.get(chunkId(id))?.text;
const stateOf = (state: TabState, id: string): RowCell["state"] | undefined => cellOf(state, chunkId(id))?.state;

describe("placing a frame", () => {
  const held = after(base, frame(1, [queued("m")]), frame(2, [status()]));
  test.each([
    ["the next one", frame(3, [queued("x")]), "applied"],
    ["one that overlaps", frame(2, [status(), queued("x")]), "applied"],
    ["a copy of the last", frame(2, [status()]), "stale"],
    ["a copy of an early one", frame(1, [queued("m")]), "stale"],
    ["one after a gap", frame(4, [queued("x")]), "resub"],
    ["one of a later term", frame(3, [queued("x")], { term: 2 }), "resub"],
    ["one of an earlier term", frame(3, [queued("x")], { term: 0 }), "stale"],
    ["one of another log, later", frame(3, [queued("x")], { log: logId("other") }), "resub"],
    ["one of another log, earlier", frame(1, [queued("x")], { log: logId("other"), term: 0 }), "stale"],
    ["one that miscounts its ops", { ...frame(3, [queued("x")]), b: 4 }, "resub"],
    ["an empty one at the version", frame(3, []), "stale"],
    ["text at the version", frame(3, [delta("nothing", 0, "x")]), "stale"],
    ["text after a gap", frame(4, [delta("nothing", 0, "x")]), "resub"],
  ])("[APPLY-1] %s", (_name, next, kind) => {
    const outcome = applyOps(held, next);
    expect(outcome.kind).toBe(kind);
    if (outcome.kind === "applied") expect(outcome.state.version).toEqual([1, 3]);
  });

  test("[APPLY-1] before the first head nothing can be placed", () => {
    expect(applyOps(emptyTabState, frame(1, [queued("m")]))).toMatchObject({ kind: "resub", reason: "other-log" });
  });
  test("[APPLY-2] a frame that cannot be placed changes nothing but what was seen", () => {
    const outcome = applyOps(held, frame(7, [queued("x"), dropped("m")]));
    expect(outcome).toEqual({ kind: "resub", reason: "ahead", state: { ...held, seen: [1, 8] } });
  });
  test("[APPLY-2] a frame is applied as a whole or not at all", () => {
    const open = after(held, frame(3, [opened("a")]));
    const outcome = applyOps(open, frame(4, [dropped("m"), delta("a", 5, "late")]));
    expect(outcome).toMatchObject({ kind: "resub", reason: "gap" });
    if (outcome.kind === "resub") expect({ ...outcome.state, seen: open.seen }).toEqual(open);
  });
  test("[APPLY-2] the overlapping part of a frame is not applied a second time", () => {
    const gone = after(held, frame(3, [dropped("m")]));
    const overlapping = applyOps(gone, frame(1, [queued("m"), status(), dropped("m"), queued("x")]));
    expect(overlapping.kind).toBe("applied");
    if (overlapping.kind !== "applied") return;
    expect([...overlapping.state.queue.keys()]).toEqual(["x"]);
  });
  test("[APPLY-3] parts that did not change keep their identity", () => {
    const open = after(held, frame(3, [opened("a"), delta("a", 0, "He")]));
    const grown = after(open, frame(4, [delta("a", 2, "llo")]));
    expect(textOf(grown, "a")).toBe("Hello");
    expect(grown.queue).toBe(open.queue);
    expect(grown.sealed).toBe(open.sealed);
    expect(grown.outputs).toBe(open.outputs);
    expect(grown.status).toBe(open.status);
    expect(grown.open).not.toBe(open.open);
    expect(textOf(open, "a")).toBe("He");
  });
  test("[APPLY-3] the cost of a delta does not depend on how many rows are held", () => {
    const rows = Array.from({ length: 400 }, (_, i) => textRow({ id: `r${i + 1}`, seq: i + 1 }));
    const full = after(afterHead(head(0, { rows })), frame(1, [opened("a")]));
    expect(after(full, frame(2, [delta("a", 0, "x")])).sealed).toBe(full.sealed);
  });
  test("[APPLY-4] an op of a later minor version keeps its stamp and says nothing", () => {
    // What JSON.parse makes of an op that this version has never heard of.
    const unknown: Op = JSON.parse('{"op":"tab-weather","mood":"sunny"}');
    const next = after(held, frame(3, [unknown, queued("x")]));
    expect(next.version).toEqual([1, 4]);
    expect(stateOf(next, "x")).toBe("queued");
    expect(namedId(unknown)).toBeNull();
  });
});

describe("the states of an id and the events of the stream", () => {
  type Event =
    | "chunk-open"
    | "chunk-delta"
    | "chunk-seal"
    | "message-queued"
    | "message-dropped"
    | "listed"
    | "unlisted";
  type Held = "absent" | "queued" | "open" | "dropped" | "sealed";
  const row = textRow({ id: "m", seq: 1 });
  const start: Readonly<Record<Held, readonly Op[]>> = {
    absent: [],
    queued: [queued("m")],
    open: [opened("m"), delta("m", 0, "He")],
    dropped: [queued("m"), dropped("m")],
    sealed: [queued("m"), sealed(row)],
  };
  /** What becomes of the id when the event follows. An owner never causes the ones marked so: they must do no harm. */
  const table: Readonly<Record<Held, Readonly<Record<Event, RowCell["state"] | "absent">>>> = {
    absent: {
      "chunk-open": "open",
      "chunk-delta": "absent",
      "chunk-seal": "sealed",
      "message-queued": "queued",
      "message-dropped": "absent",
      listed: "queued",
      unlisted: "absent",
    },
    queued: {
      "chunk-open": "open", // never caused
      "chunk-delta": "queued", // never caused
      "chunk-seal": "sealed",
      "message-queued": "queued",
      "message-dropped": "absent",
      listed: "queued",
      unlisted: "absent",
    },
    open: {
      "chunk-open": "open", // never caused
      "chunk-delta": "open",
      "chunk-seal": "sealed",
      "message-queued": "open", // never caused
      "message-dropped": "absent",
      listed: "queued", // never caused
      unlisted: "absent",
    },
    dropped: {
      "chunk-open": "open", // never caused
      "chunk-delta": "absent",
      "chunk-seal": "sealed", // never caused
      "message-queued": "queued", // never caused
      "message-dropped": "absent",
      listed: "queued", // never caused
      unlisted: "absent",
    },
    sealed: {
      "chunk-open": "sealed", // never caused
      "chunk-delta": "sealed",
      "chunk-seal": "sealed",
      "message-queued": "sealed", // never caused
      "message-dropped": "sealed", // never caused
      listed: "sealed", // never caused
      unlisted: "sealed",
    },
  };
  const cases = Object.entries(table).flatMap(([held, events]) =>
    Object.entries(events).map(([event, becomes]) => ({ held, event, becomes })),
  );
  const ops: Readonly<Record<Exclude<Event, "listed" | "unlisted">, Op>> = {
    "chunk-open": opened("m"),
    "chunk-delta": delta("m", 0, "Hello"),
    "chunk-seal": sealed(row),
    "message-queued": queued("m", { version: 2 }),
    "message-dropped": dropped("m"),
  };
  test.each(cases)("[APPLY-5] $held, then $event: $becomes", ({ held, event, becomes }) => {
    const startOps = Object.entries(start).find(([name]) => name === held)?.[1] ?? [];
    const before = after(base, frame(1, startOps));
    const op = Object.entries(ops).find(([name]) => name === event)?.[1];
    const n = before.version[1];
    const from = before.tail;
    const next =
      op !== undefined
        ? after(before, frame(n + 1, [op]))
        : afterHead(
            head(n, { from, tail: from, queue: event === "listed" && held !== "sealed" ? [message("m")] : [] }),
            before,
          );
    expect(stateOf(next, "m") ?? "absent").toBe(becomes);
    const places = [next.queue, next.open, next.sealed].filter((part) => part.has(chunkId("m")));
    expect(places.length).toBe(becomes === "absent" ? 0 : 1);
  });
});

describe("text", () => {
  const open = after(base, frame(1, [opened("a"), delta("a", 0, "Hello ")]));
  test.each([
    ["at the end", 6, "world", "Hello world"],
    ["a copy", 0, "Hello ", "Hello "],
    ["a part of a copy", 2, "ll", "Hello "],
    ["overlapping", 3, "lo world", "Hello world"],
    ["all of it again and more", 0, "Hello world", "Hello world"],
    ["empty", 6, "", "Hello "],
  ])("[APPLY-6] a delta %s", (_name, offset, text, whole) => {
    expect(textOf(after(open, frame(2, [delta("a", offset, text)])), "a")).toBe(whole);
  });
  test("[APPLY-6] a delta behind missing text is never appended", () => {
    const outcome = applyOps(open, frame(2, [delta("a", 9, "ld")]));
    expect(outcome).toMatchObject({ kind: "resub", reason: "gap" });
    if (outcome.kind === "resub") expect(textOf(outcome.state, "a")).toBe("Hello ");
  });
  test("[APPLY-6] offsets count UTF-16 units: a surrogate pair may come in two deltas", () => {
    const split = after(base, frame(1, [opened("a"), delta("a", 0, "\ud83d"), delta("a", 1, "\ude00")]));
    expect(textOf(split, "a")).toBe("😀");
    expect(textOf(split, "a")).toHaveLength(2);
    expect(textOf(after(split, frame(2, [delta("a", 2, "!")])), "a")).toBe("😀!");
    expect(applyOps(split, frame(2, [delta("a", 3, "!")])).kind).toBe("resub");
  });
  test("[APPLY-6] any cutting of a text, with any repetitions in order, gives the text", () => {
    const cuts = fc.tuple(fc.string({ unit: "grapheme", minLength: 1 }), fc.array(fc.nat(40)), fc.array(fc.nat(40)));
    fc.assert(
      fc.property(cuts, ([text, points, repeats]) => {
        const ends = [...new Set([...points.map((point) => point % text.length), text.length])].sort((a, b) => a - b);
        const pieces = ends.map((end, i) => delta("a", ends[i - 1] ?? 0, text.slice(ends[i - 1] ?? 0, end)));
        const stream = pieces.flatMap((piece, i) => [piece, pieces[(repeats[i] ?? i) % (i + 1)] ?? piece]);
        const state = stream.reduce((held, op) => after(held, frame(2, [op])), after(base, frame(1, [opened("a")])));
        expect(textOf(state, "a")).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("live output of tools", () => {
  const held = after(base, frame(1, [status(), output("c", 70_000)]));
  test("[APPLY-7] the register with more bytes wins, a late copy changes nothing", () => {
    expect(held.outputs.get("c")?.bytes).toBe(70_000);
    expect(applyOps(held, frame(2, [output("c", 60_000)])).kind).toBe("stale");
    expect(after(held, frame(2, [output("c", 80_000)])).outputs.get("c")?.bytes).toBe(80_000);
  });
  test("[APPLY-7] the sealed result replaces it, and an old copy does not bring it back", () => {
    const done = after(held, frame(2, [sealed(resultRow("r", 1, "c"))]));
    expect(done.outputs.size).toBe(0);
    expect(after(done, frame(2, [output("c", 90_000)])).outputs.size).toBe(0);
  });
  test("[APPLY-7] a head keeps only what it lists, and of that the later one", () => {
    const listed = head(1, { outputs: [{ callId: "c", bytes: 60_000, tail: "older" }] });
    expect(afterHead(listed, held).outputs.get("c")?.bytes).toBe(70_000);
    expect(afterHead(head(1), held).outputs.size).toBe(0);
  });
});

describe("heads", () => {
  const rows = [1, 2, 3].map((seq) => textRow({ id: `r${seq}`, seq }));
  const held = after(
    afterHead(head(0, { rows })),
    frame(1, [queued("gone"), queued("stays"), opened("a"), delta("a", 0, "Hello wor")]),
  );
  test("[HEAD-1] one that is older than what is held is ignored", () => {
    expect(applyHead(held, head(2), answersSub).kind).toBe("stale");
    expect(applyHead(held, head(9, { term: 0 }), pushed).kind).toBe("stale");
  });
  test("[HEAD-1] one of an earlier term is believed only as the answer that is waited for", () => {
    const back = applyHead(held, head(9, { term: 0 }), answersSub);
    expect(back).toMatchObject({ kind: "applied", state: { version: [0, 9], seen: [0, 9] } });
  });
  test("[HEAD-2] what it does not list is gone", () => {
    const next = afterHead(head(3, { from: 3, queue: [message("stays")], open: [openBlock("a", "Hello wor")] }), held);
    expect([...next.queue.keys()]).toEqual(["stays"]);
    expect([...next.open.keys()]).toEqual(["a"]);
    expect(afterHead(head(3, { from: 3 }), held).open.size).toBe(0);
  });
  test("[HEAD-2] status, tail and version are the head's", () => {
    const next = afterHead(head(8, { from: 3, tail: 9 }), held);
    expect(next).toMatchObject({ tail: 9, version: [1, 8], status: { state: "idle" } });
  });
  test("[HEAD-3] append forgets the rows above `from`, for only those up to it were vouched for", () => {
    const other = textRow({ id: "other", seq: 3, term: 2 });
    const next = afterHead(head(0, { term: 2, from: 2, rows: [other] }), held);
    expect([...next.sealed.keys()]).toEqual(["r1", "r2", "other"]);
  });
  test("[HEAD-3] reset forgets all rows, and so does another log", () => {
    const page = [textRow({ id: "x", seq: 1 })];
    expect([...afterHead(head(9, { mode: "reset", rows: page }), held).sealed.keys()]).toEqual(["x"]);
    expect([...afterHead(head(9, { log: logId("child"), rows: page }), held).sealed.keys()]).toEqual(["x"]);
  });
  test("[HEAD-3] rows that are not wanted are not kept, yet the tail counts them", () => {
    const outcome = applyHead(held, head(9, { from: 3, rows: [textRow({ id: "r4", seq: 4 })] }), {
      answersSub: true,
      keep: () => false,
    });
    expect(outcome).toMatchObject({ kind: "applied", state: { tail: 4 } });
    if (outcome.kind === "applied") expect(outcome.state.sealed.size).toBe(3);
  });
  test.each([
    ["from the first character", 0, "Hello world", "Hello world"],
    ["from where the client stood", 9, "ld", "Hello world"],
    ["shorter than what came meanwhile", 0, "Hello", "Hello wor"],
  ])("[HEAD-4] text of an open block, %s", (_name, offset, text, whole) => {
    expect(textOf(afterHead(head(3, { from: 3, open: [openBlock("a", text, { offset })] }), held), "a")).toBe(whole);
  });
  test("[HEAD-4] text that begins behind what is held is asked for again", () => {
    const outcome = applyHead(held, head(3, { open: [openBlock("a", "later", { offset: 40 })] }), answersSub);
    expect(outcome).toMatchObject({ kind: "resub", reason: "gap" });
  });
  test("[HEAD-5] another log in the same term is taken over when a `log` op announced it or it was asked for", () => {
    const child = logId("child");
    const childHead = head(0, { log: child });
    expect(applyHead(held, childHead, answersSub).kind).toBe("applied");
    const announced = after(held, frame(4, [{ op: "log", logId: child }]));
    expect(announced.nextLogId).toBe(child);
    const outcome = applyHead(announced, childHead, pushed);
    expect(outcome).toMatchObject({ kind: "applied", state: { logId: child, nextLogId: null, version: [1, 0] } });
  });
  test.each([1, 3, 99])("[HEAD-5] one that nobody announced is not believed at n %s: a new one is asked for", (n) => {
    const outcome = applyHead(held, head(n, { log: logId("former") }), pushed);
    expect(outcome).toMatchObject({ kind: "resub", reason: "other-log" });
    if (outcome.kind === "resub") expect(outcome.state.logId).toBe(log);
  });
  test("[HEAD-5] in a later term another log needs no announcement", () => {
    expect(applyHead(held, head(0, { term: 2, log: logId("child") }), pushed).kind).toBe("applied");
  });
});

describe("rows outside the stream", () => {
  test("[APPLY-8] a page joins: its rows replace what was queued or open under their id", () => {
    const held = after(base, frame(1, [queued("m"), opened("a")]));
    const next = applyRows(held, [textRow({ id: "m", seq: 1 }), textRow({ id: "a", seq: 2 })]);
    expect([next.queue.size, next.open.size, next.sealed.size, next.tail]).toEqual([0, 0, 2, 2]);
    expect(applyRows(next, [textRow({ id: "m", seq: 1 })])).toBe(next);
    const later = after(next, frame(3, [sealed(textRow({ id: "m", seq: 1 }))]));
    expect(later.sealed).toBe(next.sealed);
  });
  test("[APPLY-8] forgetting rows forgets nothing else", () => {
    const held = applyRows(after(base, frame(1, [queued("m")])), [textRow({ id: "a", seq: 1 })]);
    const next = forgetRows(held, [chunkId("a"), chunkId("m")]);
    expect([next.sealed.size, next.queue.size, next.tail]).toEqual([0, 1, 1]);
    expect(forgetRows(next, [chunkId("a")])).toBe(next);
  });
  test("[APPLY-9] an owner applies its own ops one by one and keeps no rows", () => {
    const ops: readonly Op[] = [status(), queued("m"), opened("a"), delta("a", 0, "He"), delta("a", 2, "y")];
    const row = textRow({ id: "a", seq: 1, text: "Hey" });
    let n = 0;
    const owner = [...ops, sealed(row), output("c", 5)].reduce((state, op) => {
      if (isStamped(op)) n += 1;
      return applyOp(state, op, { stamp: [1, n], options: { keep: () => false } });
    }, base);
    const client = after(base, frame(1, [...ops, sealed(row), output("c", 5)]));
    expect(owner).toEqual({ ...client, sealed: new Map() });
    expect(client.sealed.size).toBe(1);
  });
});
