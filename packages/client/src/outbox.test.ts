import { describe, expect, test } from "vitest";
import type { StoredOutboxEntry } from "./client.ts";
import {
  addMessage,
  emptyOutbox,
  expire,
  findLost,
  forgetMessage,
  keptMax,
  keptMs,
  loadEntries,
  markSent,
  markUnsent,
  memoryOutbox,
  type NewMessage,
  type Outbox,
  pendingMax,
  refuse,
  sendAgain,
  takeEvidence,
  takeFate,
} from "./outbox.ts";
import { chunkId, logId, Owner, theTab } from "./test-kit/owner.ts";

const now = 1_000_000;
const log = logId("log-1");
const where = { tabId: theTab, logId: log, now };
const message = (id: string): NewMessage => ({
  id: chunkId(id),
  text: `text of ${id}`,
  attachments: [],
  delivery: "steer",
  at: 5,
});
const withPending = (...ids: readonly string[]): Outbox =>
  ids.reduce((outbox, id) => addMessage(outbox, theTab, message(id)).outbox, emptyOutbox);
const kept = (id: string, seq?: number): StoredOutboxEntry => ({
  ...message(id),
  tabId: theTab,
  logId: log,
  sealedAt: now,
  ...(seq === undefined ? {} : { seq }),
});
const ids = (entries: readonly { readonly id: string }[]): readonly string[] => entries.map((entry) => entry.id);
const states = (outbox: Outbox): readonly string[] => outbox.pending.map((entry) => `${entry.id} ${entry.state}`);

describe("sending", () => {
  test("[OUTBOX-1] a message waits, is stored, and stays until there is evidence", () => {
    const step = addMessage(emptyOutbox, theTab, message("a"));
    expect(step.changes).toEqual([{ kind: "put", entry: { ...message("a"), tabId: theTab } }]);
    const sent = markSent(step.outbox, chunkId("a"));
    expect(states(sent)).toEqual(["a sent"]);
    expect(states(markUnsent(sent))).toEqual(["a waiting"]);
    expect(markUnsent(step.outbox)).toBe(step.outbox);
    expect(takeEvidence(sent, [{ id: chunkId("other"), fate: "accepted" }], where)).toEqual({
      outbox: sent,
      changes: [],
    });
  });
  test("[OUTBOX-2] beyond the limit a message is refused at once, and kept on screen", () => {
    const full = withPending(...Array.from({ length: pendingMax }, (_, i) => `m${i}`));
    const more = addMessage(full, theTab, message("more")).outbox;
    expect(more.pending.at(-1)).toMatchObject({ id: "more", state: "refused", error: { code: "queue-full" } });
    const room = takeEvidence(more, [{ id: chunkId("m0"), fate: "accepted" }], where).outbox;
    expect(sendAgain(room, theTab, chunkId("more")).outbox.pending.at(-1)).toMatchObject({
      id: "more",
      state: "waiting",
    });
  });
  test.each([
    ["message-too-large", "refused"],
    ["queue-full", "refused"],
    ["disk-full", "refused"],
    ["shutting-down", "waiting"],
    ["log-fenced", "waiting"],
    ["log-unavailable", "waiting"],
  ] as const)("[OUTBOX-3] after the error %s a message is %s, its text kept", (code, state) => {
    const sent = markSent(withPending("a"), chunkId("a"));
    const step = refuse(sent, { tabId: theTab, id: chunkId("a"), error: { code, message: "no" } });
    const next = step.outbox;
    expect(step.changes.map((change) => change.kind)).toEqual(state === "refused" ? ["put"] : []);
    expect(next.pending).toMatchObject([{ id: "a", state, text: "text of a" }]);
    expect(markSent(next, chunkId("a")).pending[0]?.state).toBe(state === "refused" ? "refused" : "sent");
  });
  test("[OUTBOX-3] a refused message goes out again under its id, or is forgotten, when the person says so", () => {
    const error = { code: "queue-full", message: "no" } as const;
    const refused = refuse(withPending("a", "b"), { tabId: theTab, id: chunkId("a"), error }).outbox;
    const again = sendAgain(refused, theTab, chunkId("a"));
    expect(states(again.outbox)).toEqual(["b waiting", "a waiting"]);
    expect(again.outbox.pending[1]).not.toHaveProperty("error");
    const gone = forgetMessage(refused, chunkId("a"));
    expect([states(gone.outbox), gone.changes]).toEqual([["b waiting"], [{ kind: "remove", id: "a" }]]);
    expect(forgetMessage(refused, chunkId("x"))).toEqual({ outbox: refused, changes: [] });
  });
});

describe("evidence", () => {
  test("[OUTBOX-4] what was accepted is kept with its place, which a seal tells later", () => {
    const queued = takeEvidence(withPending("a"), [{ id: chunkId("a"), fate: "accepted" }], where);
    expect(queued.outbox).toMatchObject({ pending: [], kept: [{ id: "a", sealedAt: now, logId: log }] });
    const sealed = takeEvidence(queued.outbox, [{ id: chunkId("a"), fate: "accepted", seq: 7 }], where);
    expect(sealed.outbox.kept).toMatchObject([{ id: "a", seq: 7 }]);
    expect(sealed.changes).toHaveLength(1);
    expect(takeEvidence(sealed.outbox, [{ id: chunkId("a"), fate: "accepted", seq: 7 }], where).changes).toEqual([]);
    expect(takeEvidence(sealed.outbox, [{ id: chunkId("a"), fate: "accepted" }], where).outbox.kept).toMatchObject([
      { seq: 7 },
    ]);
  });
  test("[OUTBOX-4] what was dropped is gone from everywhere", () => {
    const step = takeEvidence(withPending("a"), [{ id: chunkId("a"), fate: "dropped" }], where);
    expect(step).toEqual({ outbox: emptyOutbox, changes: [{ kind: "remove", id: "a" }] });
    const waiting = takeEvidence(withPending("a"), [{ id: chunkId("a"), fate: "accepted" }], where).outbox;
    expect(takeEvidence(waiting, [{ id: chunkId("a"), fate: "dropped" }], where).outbox).toEqual(emptyOutbox);
  });
  test("[OUTBOX-5] accepted messages are kept for a day, and at most so many", () => {
    const outbox = { ...emptyOutbox, kept: [kept("old"), { ...kept("young"), sealedAt: now + 1 }] };
    const step = expire(outbox, now + keptMs);
    expect([ids(step.outbox.kept), step.changes]).toEqual([["young"], [{ kind: "remove", id: "old" }]]);
    const many = { ...emptyOutbox, kept: Array.from({ length: keptMax + 2 }, (_, i) => kept(`k${i}`)) };
    expect(ids(expire(many, now).outbox.kept)).toHaveLength(keptMax);
    expect(ids(expire(many, now).outbox.kept)[0]).toBe("k2");
  });
});

describe("after a restore", () => {
  const owner = new Owner();
  owner.term = 2;
  owner.sealMany(150);
  const head = owner.head();
  const last = head.rows.at(-1)?.id ?? "";
  const [first, held] = [true, false];
  test.each([
    ["stood beyond the new tail", kept("a", 151), held, "lost"],
    ["stood where another row stands now", kept("a", 120), held, "lost"],
    ["stood above the rows that came", kept("a", 20), held, "unsure"],
    ["stood there under this term, and this client has just started", { ...kept("a", 20), term: 2 }, first, "kept"],
    [
      "stood there under another term, and this client has just started",
      { ...kept("a", 20), term: 1 },
      first,
      "unsure",
    ],
    ["is named by the head", kept(last, 150), held, "kept"],
    ["waited and is not listed any more", kept("a"), held, "unsure"],
    ["waited under this term, and this client has just started", { ...kept("a"), term: 2 }, first, "kept"],
    ["waited under another term, and this client has just started", { ...kept("a"), term: 1 }, first, "unsure"],
    ["is of another log", { ...kept("a", 151), logId: logId("former") }, held, "kept"],
  ] as const)("[OUTBOX-6] a message that %s", (_name, entry, before, verdict) => {
    const { outbox, unsure } = findLost({ ...emptyOutbox, kept: [entry] }, head, before);
    const found = outbox.lost.length > 0 ? "lost" : unsure.length > 0 ? "unsure" : "kept";
    expect(found).toBe(verdict);
    expect(ids(outbox.lost)).toEqual(verdict === "lost" ? [entry.id] : []);
    expect(ids(outbox.kept)).toEqual(verdict === "lost" ? [] : [entry.id]);
  });
  test("[OUTBOX-6] rows that the server vouched for are not doubted", () => {
    const appended = { ...head, mode: "append" as const, from: 60 };
    expect(findLost({ ...emptyOutbox, kept: [kept("a", 20)] }, appended, held).unsure).toEqual([]);
  });
  test("[OUTBOX-6] one that was found is not doubted again under the same term", () => {
    const entry = { ...kept("a"), term: 1 };
    const step = takeFate({ ...emptyOutbox, kept: [entry] }, entry, { kind: "kept", seq: 20, term: 2 });
    const found = { ...entry, seq: 20, term: 2 };
    expect(step).toEqual({ outbox: { ...emptyOutbox, kept: [found] }, changes: [{ kind: "put", entry: found }] });
    expect(findLost(step.outbox, head, first)).toEqual({ outbox: step.outbox, unsure: [] });
    const late = takeFate(step.outbox, entry, { kind: "kept", seq: 21, term: 3 });
    expect(late).toEqual({ outbox: step.outbox, changes: [] });
  });
  test("[OUTBOX-6] one that still waits is not doubted again under the same term, and one that was removed is gone", () => {
    const entry = { ...kept("a"), term: 1 };
    const outbox = { ...emptyOutbox, kept: [entry] };
    const waits = takeFate(outbox, entry, { kind: "kept", term: 2 });
    expect(waits.outbox.kept).toEqual([{ ...entry, term: 2 }]);
    const removed = takeFate(outbox, entry, { kind: "dropped" });
    expect(removed).toEqual({ outbox: emptyOutbox, changes: [{ kind: "remove", id: entry.id }] });
  });
  test("[OUTBOX-6] a lost message goes out again under its id only when the person says so", () => {
    const entry = kept("a", 151);
    const unknown = { kind: "unknown" } as const;
    const lost = takeFate({ ...emptyOutbox, kept: [entry] }, entry, unknown).outbox;
    expect(states(lost)).toEqual([]);
    const again = sendAgain(lost, theTab, chunkId("a")).outbox;
    expect([states(again), again.lost]).toEqual([["a waiting"], []]);
    expect(forgetMessage(lost, chunkId("a")).outbox).toEqual(emptyOutbox);
    expect(takeFate(lost, entry, unknown).outbox).toBe(lost);
  });
});

describe("the store", () => {
  test("[OUTBOX-7] what an earlier page left is taken over: oldest first, what is known here wins", () => {
    const entries: readonly StoredOutboxEntry[] = [
      { ...message("b"), tabId: theTab, at: 2 },
      { ...message("a"), tabId: theTab, at: 1 },
      { ...message("known"), tabId: theTab, text: "older" },
      kept("k", 3),
      { ...kept("expired"), sealedAt: now - keptMs },
      kept("offered", 4),
    ];
    const known = { ...withPending("known"), lost: withPending("offered").pending };
    const step = loadEntries(known, entries, now);
    expect(states(step.outbox)).toEqual(["a waiting", "b waiting", "known waiting"]);
    expect(step.outbox.pending[2]?.text).toBe("text of known");
    expect(ids(step.outbox.kept)).toEqual(["k"]);
    expect(step.changes).toEqual([{ kind: "remove", id: "expired" }]);
  });
  test("[OUTBOX-7] in memory, it holds what was put and not removed", async () => {
    const store = memoryOutbox();
    await store.put(kept("a"));
    await store.put({ ...kept("a"), text: "newer" });
    await store.put(kept("b"));
    await store.remove(chunkId("b"));
    expect(await store.load()).toEqual([{ ...kept("a"), text: "newer" }]);
  });
});
