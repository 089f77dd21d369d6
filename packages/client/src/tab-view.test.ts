import { type LogChunk, limits, type OpsFrame, type Page } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { addMessage } from "./outbox.ts";
import { firstSnapshot } from "./snapshot.ts";
import { subCommand } from "./subscription.ts";
import {
  ackEvidence,
  emptyView,
  fitsPage,
  readAtEnd,
  type TabView,
  takeHead,
  takeOps,
  takePage,
  windowHi,
  windowLo,
} from "./tab-view.ts";
import { chunkId, logId, Owner, textRow, theTab } from "./test-kit/owner.ts";
import { snapshotFaults } from "./test-kit/snapshot-faults.ts";
import { rowSize } from "./window.ts";

const now = 1_000;
const asked = { answersSub: true, now };

/** An owner, and a view of it that hears every frame at once. */
function following(rows = 0) {
  const owner = new Owner();
  if (rows > 0) owner.sealMany(rows);
  let view = takeHead(emptyView(theTab), owner.head(), asked).view;
  owner.attach({}, (frame) => {
    if (frame.type === "ops") view = takeOps(view, frame, now).view;
    if (frame.type === "head") view = takeHead(view, frame, { answersSub: false, now }).view;
  });
  return { owner, view: () => view, set: (next: TabView) => (view = next) };
}
const pageOf = (owner: Owner, query: Parameters<Owner["page"]>[0]): Page => owner.page(query);
const faults = (view: TabView) => snapshotFaults(view, firstSnapshot(view, null));
const span = (view: TabView) => [windowLo(view), windowHi(view)];

describe("the window follows the log", () => {
  test("[VIEW-1] attached, sealed rows stand at its end and old ones leave at the other", () => {
    const { owner, view } = following(399);
    expect(span(view())).toEqual([300, 399]);
    for (let i = 0; i < 350; i++) owner.sealMany(1);
    expect(span(view())).toEqual([350, 749]);
    expect(view().attached).toBe(true);
    expect(view().state.sealed.size).toBe(limits.windowRowsMax);
    expect(faults(view())).toEqual([]);
  });
  test("[VIEW-1] who reads older rows keeps them: the window lets go of the end instead", () => {
    const { owner, view, set } = following(500);
    for (let i = 0; i < 3; i++) set(takePage(view(), pageOf(owner, { before: windowLo(view()) }), "older").view);
    expect([span(view()), view().attached]).toEqual([[101, 500], true]);
    owner.sealMany(1);
    expect([span(view()), view().attached, view().state.tail]).toEqual([[101, 500], false, 501]);
    owner.sealMany(4);
    expect([span(view()), view().state.tail]).toEqual([[101, 500], 505]);
  });
  test("[VIEW-1] once the end was read again, the window follows it again", () => {
    const { owner, view, set } = following(500);
    for (let i = 0; i < 3; i++) set(takePage(view(), pageOf(owner, { before: windowLo(view()) }), "older").view);
    set(readAtEnd(view()));
    owner.sealMany(1);
    expect([span(view()), view().attached]).toEqual([[102, 501], true]);
    expect(readAtEnd(view())).toBe(view());
  });
  test("[VIEW-2] a message that this client has not heard of is never evicted", () => {
    const { owner, view, set } = following();
    const id = chunkId("mine");
    const waiting = addMessage(view().outbox, theTab, { id, text: "mine", attachments: [], delivery: "steer", at: 0 });
    set({ ...view(), outbox: waiting.outbox });
    const hidden: Page = { ...pageOf(owner, {}), chunks: [textRow({ id: "mine", seq: 1 })], tail: 1 };
    set(takePage(view(), hidden, "newer").view);
    expect(view().outbox.pending).toHaveLength(1);
    expect(firstSnapshot(view(), null).pending).toEqual([]);
    expect(faults(view())).toEqual([]);
    const rows = Array.from({ length: 450 }, (_, i) => textRow({ id: `r${i + 2}`, seq: i + 2 }));
    set(takePage(view(), { ...hidden, chunks: rows, tail: 451 }, "newer").view);
    expect(span(view())).toEqual([1, 400]);
  });
});

describe("eviction at the grain of a row", () => {
  const turns = (view: TabView) => [...new Set(view.rows.map((row) => row.turnId))];
  test("[VIEW-100] rows leave in the middle of a turn, of the newest one as well, and are paged back one by one", () => {
    const owner = new Owner();
    for (let seq = 1; seq <= 900; seq++)
      owner.rows.push(textRow({ id: `r${seq}`, seq, turn: `t${Math.ceil(seq / 450)}` }));
    let view = takeHead(emptyView(theTab), owner.head(), asked).view;
    for (let i = 0; i < 4; i++) view = takePage(view, pageOf(owner, { before: windowLo(view) }), "older").view;
    expect([span(view), turns(view), view.attached]).toEqual([[401, 800], ["t1", "t2"], false]);
    view = takePage(view, pageOf(owner, { before: windowLo(view), limit: 7 }), "older").view;
    expect([span(view), turns(view)]).toEqual([
      [394, 793],
      ["t1", "t2"],
    ]);
    view = takePage(view, pageOf(owner, { after: windowHi(view), limit: 3 }), "newer").view;
    expect([span(view), view.attached]).toEqual([[397, 796], false]);
    for (let i = 0; i < 2; i++) view = takePage(view, pageOf(owner, { after: windowHi(view) }), "newer").view;
    expect([span(view), turns(view), view.attached]).toEqual([[501, 900], ["t2"], true]);
    expect(faults(view)).toEqual([]);
  });
  test("[VIEW-100] large rows: the window holds 4 MiB of them, both ways, and follows the log on", () => {
    const owner = new Owner();
    const text = "x".repeat(limits.rowTravelBytesMax - 200);
    for (let seq = 1; seq <= 120; seq++) owner.rows.push(textRow({ id: `r${seq}`, seq, text }));
    let view = takeHead(emptyView(theTab), owner.head({ want: 2 }), asked).view;
    const size = () => view.rows.reduce((sum, row) => sum + rowSize(row), 0);
    const most = Math.floor(limits.windowBytesMax / rowSize(textRow({ id: "r1", seq: 1, text })));
    for (let i = 0; i < 60; i++) {
      view = takePage(view, pageOf(owner, { before: windowLo(view), limit: 2 }), "older").view;
      expect(size()).toBeLessThanOrEqual(limits.windowBytesMax);
      if (windowLo(view) === 1) break;
    }
    expect([span(view), view.attached]).toEqual([[1, most], false]);
    for (let i = 0; i < 60 && !view.attached; i++) {
      view = takePage(view, pageOf(owner, { after: windowHi(view), limit: 2 }), "newer").view;
      expect(size()).toBeLessThanOrEqual(limits.windowBytesMax);
    }
    expect([span(view), view.attached]).toEqual([[121 - most, 120], true]);
    owner.attach({}, (frame) => {
      if (frame.type === "ops") view = takeOps(view, frame, now).view;
    });
    owner.sealRow(textRow({ id: "r121", seq: 121, text }));
    expect([span(view), view.attached]).toEqual([[122 - most, 121], true]);
    expect(faults(view)).toEqual([]);
  });
});

describe("heads and pages", () => {
  test("[VIEW-3] a head that leaves rows out asks again", () => {
    const { owner, view } = following(10);
    owner.detach({});
    const late = { ...owner.head({ have: { log: owner.log, term: 1, seq: 10 } }), tail: 12 };
    expect(takeHead(view(), late, asked).resub).toBe("needed");
    expect(takeHead(view(), { ...late, tail: 10 }, asked).resub).toBe("none");
  });
  test("[VIEW-3] ops that cannot be placed ask again; text that cannot be continued asks for all of it", () => {
    const { owner, view } = following();
    const block = owner.openBlock();
    const frame = (a: number, ops: OpsFrame["ops"], b = a + ops.length - 1): OpsFrame => ({
      type: "ops",
      tab: theTab,
      log: owner.log,
      term: 1,
      a,
      b,
      ops,
    });
    const ahead = takeOps(view(), frame(5, [{ op: "message-dropped", id: chunkId("x"), reason: "lost" }]), now);
    expect(ahead.resub).toBe("needed");
    expect(takeHead(ahead.view, owner.head(), { answersSub: false, now }).resub).toBe("none");
    const gap = takeOps(view(), frame(2, [{ op: "chunk-delta", id: block, offset: 9, text: "x" }], 1), now);
    expect(gap.resub).toBe("whole");
    const sub = { re: 1, focus: false };
    expect(subCommand(view(), { ...sub, whole: false }).open).toEqual({ [block]: 0 });
    expect(subCommand(view(), { ...sub, whole: true })).not.toHaveProperty("open");
  });
  test.each<[string, Partial<Page>, "older" | "newer" | "end", boolean]>([
    ["older rows next to the window", {}, "older", true],
    ["newer rows next to the window", { chunks: [textRow({ id: "n", seq: 301 })] }, "newer", true],
    ["the last page", { chunks: [textRow({ id: "n", seq: 900 })] }, "end", true],
    ["an empty page", { chunks: [] }, "older", true],
    ["older rows with a hole", { chunks: [textRow({ id: "n", seq: 150 })] }, "older", false],
    ["newer rows with a hole", { chunks: [textRow({ id: "n", seq: 303 })] }, "newer", false],
    ["another term", { term: 2 }, "older", false],
    ["another log", { logId: logId("other") }, "older", false],
    ["the last page of another term", { term: 2 }, "end", false],
  ])("[VIEW-4] %s", (_name, parts, side, fits) => {
    const { owner, view } = following(300);
    const page = { ...pageOf(owner, { before: windowLo(view()), limit: 100 }), ...parts };
    expect(fitsPage(view(), page, side)).toBe(fits);
    expect(fitsPage(emptyView(theTab), page, side)).toBe(false);
  });
  test("[VIEW-5] a page is never evidence for the outbox, a head and an op are", () => {
    const { owner, view, set } = following();
    const id = chunkId("mine");
    const send = () =>
      addMessage(emptyView(theTab).outbox, theTab, { id, text: "m", attachments: [], delivery: "steer", at: 0 }).outbox;
    owner.rows.push(textRow({ id: "mine", seq: 1 }));
    set({ ...view(), outbox: send() });
    expect(takePage(view(), pageOf(owner, {}), "end").view.outbox.pending).toHaveLength(1);
    const heard = takeHead(view(), owner.head(), asked);
    expect([heard.view.outbox.pending, heard.changes]).toMatchObject([
      [],
      [{ kind: "put", entry: { id, seq: 1, sealedAt: now } }],
    ]);
    expect(ackEvidence(id, "sealed", 4)).toEqual([{ id, fate: "accepted", seq: 4 }]);
    expect(ackEvidence(id, "dropped", undefined)).toEqual([{ id, fate: "dropped" }]);
    for (const state of ["queued", "held", "done"]) expect(ackEvidence(id, state, undefined)).toEqual([]);
  });
  test("[VIEW-5] ops of another term are no evidence", () => {
    const { owner, view, set } = following();
    const id = chunkId("mine");
    const outbox = addMessage(view().outbox, theTab, {
      id,
      text: "m",
      attachments: [],
      delivery: "steer",
      at: 0,
    }).outbox;
    set({ ...view(), outbox });
    const row: LogChunk = textRow({ id: "mine", seq: 1, term: 9 });
    const later: OpsFrame = {
      type: "ops",
      tab: theTab,
      log: owner.log,
      term: 9,
      a: 1,
      b: 1,
      ops: [{ op: "chunk-seal", row }],
    };
    for (const term of [0, 9]) expect(takeOps(view(), { ...later, term }, now).view.outbox.pending).toHaveLength(1);
  });
});

test("[VIEW-6] the check of tests sees what it is there for", () => {
  const { owner, view } = following(3);
  owner.startTurn();
  owner.send(chunkId("m"), "m");
  const good = firstSnapshot(view(), null);
  expect(snapshotFaults(view(), good)).toEqual([]);
  const row = textRow({ id: "m", seq: 9 });
  expect(snapshotFaults(view(), { ...good, rows: [...good.rows, row] })).toEqual([
    "m is in rows and in queue",
    "a hole before seq 9",
  ]);
  expect(snapshotFaults(view(), { ...good, window: { ...good.window, hi: 9 } })).toEqual([
    "the window ends beyond the tail",
  ]);
  const own = addMessage(view().outbox, theTab, {
    id: chunkId("o"),
    text: "o",
    attachments: [],
    delivery: "steer",
    at: 0,
  });
  expect(snapshotFaults({ ...view(), outbox: own.outbox }, good)).toEqual(["own message o is not shown"]);
});
