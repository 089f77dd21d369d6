/**
 * The cases of earlier systems against a whole client: two of them on one owner, over their real connection machine, outbox
 * and window. The join alone is shown in `packages/protocol/src/interleavings.test.ts`.
 */
import { type ChunkId, digestText, type Frame, limits } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TabSnapshot } from "./client.ts";
import { Peer, turns } from "./test-kit/net.ts";
import { Owner, textRow } from "./test-kit/owner.ts";

async function two(rows = 0): Promise<{ readonly owner: Owner; readonly a: Peer; readonly b: Peer }> {
  const owner = new Owner();
  if (rows > 0) owner.sealMany(rows);
  const [a, b] = [new Peer("A", owner), new Peer("B", owner)];
  await settle(a, b);
  return { owner, a, b };
}
async function settle(...peers: readonly Peer[]): Promise<void> {
  for (const peer of [...peers, ...peers]) await peer.settle();
}

type Place = "rows" | "open" | "queue" | "pending";
const placeNames = ["rows", "open", "queue", "pending"] as const;
const placesOf = (snapshot: TabSnapshot, id: ChunkId): readonly Place[] =>
  placeNames.flatMap((place) => snapshot[place].filter((item) => item.id === id).map(() => place));
const shownAs = (peer: Peer, id: ChunkId): readonly Place[] => placesOf(peer.handle.snapshot(), id);

/** Both directions of every invariant, for a client that has heard everything. */
function showsTheTruth(owner: Owner, peer: Peer): void {
  const snapshot = peer.handle.snapshot();
  const { rows, open, queue, pending, window } = snapshot;
  // Nothing is lost: what is not sealed is there, in its place.
  expect(queue).toEqual(owner.queue);
  expect(open.map(({ id, text }) => [id, text])).toEqual(
    [...owner.open.values()].map(({ block, text }) => [block.id, text]),
  );
  // What is sealed is there as far as the window goes, and nowhere else.
  expect(digestText(rows)).toBe(digestText(window.lo === 0 ? [] : owner.rows.slice(window.lo - 1, window.hi)));
  expect(window.tail).toBe(owner.tail);
  const sealed = new Set(owner.rows.map((row) => row.id));
  expect([...open, ...queue, ...pending].filter((item) => sealed.has(item.id))).toEqual([]);
  onceEach(snapshot);
}
function onceEach(snapshot: TabSnapshot): void {
  const ids = placeNames.flatMap((place) => snapshot[place].map((item) => item.id));
  expect(ids).toHaveLength(new Set(ids).size);
}

describe("the four invariants of the queue, with two clients", () => {
  test("[CASE-1] no loss: what waits or is on its way survives the end of a turn, at the end and scrolled up", async () => {
    const { owner, a, b } = await two(600);
    for (let i = 0; i < 4; i++) {
      void b.handle.pageOlder();
      await settle(b);
    }
    owner.startTurn();
    await settle(a, b);
    const queued = a.handle.send({ text: "queued" });
    await settle(a, b);
    b.cut();
    const pending = b.handle.send({ text: "typed without a connection" });
    const block = owner.openBlock();
    owner.endTurn();
    await settle(a);
    expect([shownAs(a, queued), shownAs(b, pending), shownAs(a, block)]).toEqual([["queue"], ["pending"], ["rows"]]);
    await settle(a, b);
    expect(b.handle.snapshot().window.attached).toBe(false);
    for (const peer of [a, b]) showsTheTruth(owner, peer);
  });
  test("[CASE-2] no duplicate, no linger: a consumed message is a row on both clients and nothing else", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    await settle(a, b);
    const steer = a.handle.send({ text: "use vitest instead" });
    await settle(a, b);
    expect([shownAs(a, steer), shownAs(b, steer)]).toEqual([["queue"], ["queue"]]);
    owner.consume();
    await settle(a, b);
    owner.endTurn();
    await settle(a, b);
    expect([shownAs(a, steer), shownAs(b, steer)]).toEqual([["rows"], ["rows"]]);
    for (const peer of [a, b]) showsTheTruth(owner, peer);
  });
  test("[CASE-3] the newer turn is preserved: it streams on while the older one's rows come late", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    const older = owner.openBlock();
    owner.grow(older, "older");
    await settle(a, b);
    owner.endTurn();
    owner.startTurn();
    const newer = owner.openBlock();
    owner.grow(newer, "newer");
    b.cut();
    await settle(a, b);
    for (const peer of [a, b]) {
      expect([shownAs(peer, older), shownAs(peer, newer)]).toEqual([["rows"], ["open"]]);
      expect(peer.handle.snapshot().open[0]?.text).toBe("newer");
      showsTheTruth(owner, peer);
    }
  });
  test("[CASE-4] it may come late and more than once: every frame again, in any later moment, changes nothing", async () => {
    const { owner, a } = await two(3);
    owner.startTurn();
    await settle(a);
    a.handle.send({ text: "waits" });
    owner.grow(owner.openBlock(), "text");
    await settle(a);
    owner.consume();
    owner.endTurn();
    await settle(a);
    const { rows, open, queue, pending, status, window } = a.handle.snapshot();
    for (let frame = 0; frame < 40; frame++) a.carryAgain(frame);
    expect(a.handle.snapshot()).toMatchObject({ rows, open, queue, pending, status, window });
    expect(a.handle.snapshot().rows).toBe(rows);
  });
});

describe("the four bugs of the reconcile step, with two clients", () => {
  test("[CASE-5] A: a newer turn that streams is not wiped when an older turn's rows come by page", async () => {
    const { owner, a, b } = await two(250);
    owner.startTurn();
    owner.grow(owner.openBlock(), "of the older turn");
    await settle(a, b);
    void b.handle.pageOlder();
    await turns();
    owner.endTurn();
    owner.startTurn();
    const newer = owner.openBlock();
    owner.grow(newer, "newer");
    while ((b.wire?.toClient.length ?? 0) > 0) b.carryFrame();
    b.answerPage();
    await settle(a, b);
    expect(b.handle.snapshot().window.lo).toBe(51);
    expect(b.handle.snapshot().open).toMatchObject([{ id: newer, text: "newer" }]);
    for (const peer of [a, b]) showsTheTruth(owner, peer);
  });
  test("[CASE-6] B: a queued message outlives the end of the turn before it, on the client that sent it and the other", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    await settle(a, b);
    const waits = b.handle.send({ text: "later" });
    expect(shownAs(b, waits)).toEqual(["pending"]);
    await settle(a, b);
    owner.endTurn();
    await settle(a, b);
    expect([shownAs(a, waits), shownAs(b, waits)]).toEqual([["queue"], ["queue"]]);
  });
  test("[CASE-7] C: the start of a turn claims no message that still waits", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    await settle(a, b);
    const [first, second] = [a.handle.send({ text: "first" }), b.handle.send({ text: "second" })];
    await settle(a, b);
    owner.endTurn();
    owner.startTurn();
    owner.consume();
    await settle(a, b);
    owner.endTurn();
    await settle(a, b);
    for (const peer of [a, b]) {
      expect([shownAs(peer, first), shownAs(peer, second)]).toEqual([["rows"], ["queue"]]);
      showsTheTruth(owner, peer);
    }
  });
  test("[CASE-8] D: a consumed steer does not linger beside its row, also after a reconnect of either client", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    owner.grow(owner.openBlock(), "running");
    await settle(a, b);
    const steer = a.handle.send({ text: "steer" });
    await settle(a, b);
    b.cut();
    owner.sealMany(1);
    owner.consume();
    a.cut();
    await settle(a, b);
    owner.endTurn();
    await settle(a, b);
    for (const peer of [a, b]) {
      expect(shownAs(peer, steer)).toEqual(["rows"]);
      showsTheTruth(owner, peer);
    }
  });
  test("[CASE-8] corollary: a steer that is consumed behind a tool's result stands once, as the row behind it", async () => {
    const { owner, a, b } = await two();
    owner.startTurn();
    await settle(a, b);
    const steer = a.handle.send({ text: "steer" });
    await settle(a, b);
    const call = { callId: "c1", name: "bash", result: "ok", isError: false } as const;
    owner.sealRow({ ...textRow({ id: "result", seq: owner.tail + 1 }), role: "tool", type: "tool_result", data: call });
    owner.consume();
    await settle(a, b);
    for (const peer of [a, b]) {
      expect(peer.handle.snapshot().rows.map((row) => row.id)).toEqual(["result", steer]);
      showsTheTruth(owner, peer);
    }
  });
  test("[CASE-9] corollary: the first message in a fresh tab is never shown as waiting in the queue", async () => {
    const owner = new Owner();
    const peer = new Peer("A", owner);
    expect(peer.handle.snapshot().status.state).toBe("idle");
    const first = peer.handle.send({ text: "first" });
    const seen = new Set<string>();
    peer.handle.onChange(() => seen.add(shownAs(peer, first).join()));
    await peer.settle();
    expect([...seen].sort()).toEqual(["pending", "rows"]);
    expect(peer.handle.snapshot().status.state).toBe("running");
  });
});

// --- the generator -------------------------------------------------------------------------------------------------

const events = [
  "turn-start",
  "text-delta",
  "message-queued",
  "message-consumed",
  "status",
  "turn-sealed",
  "scroll-up",
  "scroll-down",
  "hear",
  "cut",
] as const;
interface SeedStep {
  readonly event: (typeof events)[number];
  readonly who: 0 | 1;
  readonly pick: number;
}
const weightOf: Readonly<Partial<Record<SeedStep["event"], number>>> = { "text-delta": 4, hear: 5, "turn-sealed": 2 };
const step: fc.Arbitrary<SeedStep> = fc.record({
  event: fc.oneof(...events.map((event) => ({ weight: weightOf[event] ?? 2, arbitrary: fc.constant(event) }))),
  who: fc.constantFrom<0 | 1>(0, 1),
  pick: fc.nat(1000),
});

class Seeds {
  readonly owner = new Owner();
  readonly peers: readonly [Peer, Peer];
  readonly sent: readonly [ChunkId[], ChunkId[]] = [[], []];
  turnsSealed = 0;
  readonly #checked: [TabSnapshot | undefined, TabSnapshot | undefined] = [undefined, undefined];

  constructor(rows: number) {
    if (rows > 0) this.owner.sealMany(rows);
    this.peers = [new Peer("A", this.owner), new Peer("B", this.owner)];
  }

  async take({ event, who, pick }: SeedStep): Promise<void> {
    const { owner } = this;
    const peer = this.peers[who];
    const block = [...owner.open.keys()][0];
    const acts: Readonly<Record<SeedStep["event"], () => unknown>> = {
      "turn-start": () => owner.status.state === "idle" && owner.startTurn(),
      "text-delta": () => owner.grow(block ?? owner.openBlock(), ["a", "bc", "😀"][pick % 3] ?? ""),
      "message-queued": () => this.sent[who].push(peer.handle.send({ text: `from ${peer.name}` })),
      "message-consumed": () => owner.consume(),
      status: () => owner.announce(),
      "turn-sealed": () => this.#sealTurn(),
      "scroll-up": () => peer.handle.pageOlder(),
      "scroll-down": () => (pick % 2 === 0 ? peer.handle.toEnd() : peer.handle.pageNewer()),
      hear: () => this.#hear(peer, pick % 6),
      cut: () => peer.cut(),
    };
    acts[event]();
    await turns();
    for (const index of [0, 1] as const) this.#checkAlways(index);
    // The one that hears of the end at once shows the truth; the other may be far behind, until it is its turn.
    if (event === "turn-sealed") await this.#checkHeard(peer);
  }

  async end(): Promise<void> {
    this.owner.announce();
    for (const peer of [...this.peers, ...this.peers]) await peer.settle();
    for (const index of [0, 1] as const) {
      const peer = this.peers[index];
      showsTheTruth(this.owner, peer);
      expect(peer.handle.snapshot().pending).toEqual([]);
      for (const id of this.sent[index]) {
        const rows = this.owner.rows.filter((row) => row.id === id).length;
        const waits = this.owner.queue.filter((message) => message.id === id).length;
        expect(rows + waits, `own message ${id}`).toBe(1);
      }
    }
    const [a, b] = this.peers.map((peer) => peer.handle.snapshot());
    expect([a?.open, a?.queue, a?.status]).toEqual([b?.open, b?.queue, b?.status]);
  }

  #sealTurn(): void {
    if (this.owner.status.state === "idle") return;
    this.owner.endTurn();
    this.turnsSealed += 1;
    // Whatever waits begins the next turn, or waits on.
    if (this.turnsSealed % 2 === 0) this.owner.startTurn();
  }
  #hear(peer: Peer, frames: number): void {
    if (peer.wire === undefined) peer.client.probe();
    peer.accept();
    for (let i = 0; i <= frames; i++) {
      peer.carryCommand();
      peer.carryFrame();
    }
    peer.answerPage();
  }
  async #checkHeard(peer: Peer): Promise<void> {
    await peer.settle();
    showsTheTruth(this.owner, peer);
  }
  /** At any moment: each id once, rows dense, and no message of one's own is out of sight. */
  #checkAlways(index: 0 | 1): void {
    const snapshot = this.peers[index].handle.snapshot();
    if (snapshot === this.#checked[index]) return;
    this.#checked[index] = snapshot;
    onceEach(snapshot);
    expect(snapshot.rows.every((row, i) => row.seq === snapshot.window.lo + i)).toBe(true);
    expect(snapshot.rows.length).toBeLessThanOrEqual(limits.windowRowsMax);
    const sealed = new Set(this.owner.rows.map((row) => row.id));
    for (const id of this.sent[index]) {
      if (placesOf(snapshot, id).length === 0) expect(sealed.has(id), `own message ${id}`).toBe(true);
    }
  }
}

test("[CLIENT-106] the seeds' generator: turns, deltas, queue, status and scrolling of two clients, in any order", async () => {
  let sealedTurns = 0;
  const traces = fc.array(step, { minLength: 30, maxLength: 120, size: "max" });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 5, 350, 620), traces, async (rows, steps) => {
      const seeds = new Seeds(rows);
      for (const peer of seeds.peers) await peer.settle();
      for (const one of steps) await seeds.take(one);
      await seeds.end();
      sealedTurns += seeds.turnsSealed;
    }),
    { numRuns: 120 },
  );
  expect(sealedTurns).toBeGreaterThan(200);
}, 120_000);

// --- cases ---------------------------------------------------------------------------------------------------------

describe("H09: reconnect with overlap, gap and reordering", () => {
  /** A client that has just reconnected and asked, with the frames of the case ready to be brought in any order. */
  async function reconnecting() {
    const owner = new Owner();
    owner.sealMany(11);
    const peer = new Peer("A", owner);
    await peer.settle();
    const frames: Frame[] = [];
    owner.attach({}, (frame) => frames.push(frame));
    const block = owner.openBlock();
    for (const text of ["Hel", "lo "]) owner.grow(block, text);
    await peer.settle();
    peer.cut();
    owner.grow(block, "wor");
    peer.client.probe();
    peer.accept();
    peer.carryCommand();
    peer.carryFrame();
    const sub = peer.commands.findLast((command) => command.type === "sub");
    if (sub === undefined) throw new Error("a client that is live has subscribed");
    const snapshot = owner.head(sub);
    owner.grow(block, "ld");
    owner.sealBlock(block);
    const [, , replay, , live, seal] = frames;
    if (replay === undefined || live === undefined || seal === undefined) throw new Error("the owner has told of each");
    const bring = (frame: Frame): void => peer.wire?.handlers.frame(JSON.stringify(frame));
    return { owner, peer, block, sub, bring, frames: { live, snapshot, replay, seal } };
  }
  const textOf = (peer: Peer, id: ChunkId): string | undefined => {
    const { open, rows } = peer.handle.snapshot();
    return open.find((item) => item.id === id)?.text ?? (rows.some((row) => row.id === id) ? "sealed" : undefined);
  };

  test("[CASE-10] in the order of the report: never a text with a gap, and only what follows seq 11 is asked for", async () => {
    const { peer, block, sub, bring, frames, owner } = await reconnecting();
    expect(sub).toMatchObject({ have: { seq: 11 }, open: { [block]: 6 } });
    const steps = [
      [frames.live, "Hello "],
      [frames.snapshot, "Hello wor"],
      [frames.replay, "Hello wor"],
      [frames.live, "Hello world"],
      [frames.seal, "sealed"],
      [frames.seal, "sealed"],
    ] as const;
    for (const [frame, text] of steps) {
      bring(frame);
      expect(textOf(peer, block)).toBe(text);
    }
    expect(peer.pages).toEqual([]);
    await peer.settle();
    showsTheTruth(owner, peer);
    expect(peer.handle.snapshot().rows.at(-1)).toMatchObject({ id: block, seq: 12, data: { text: "Hello world" } });
  });
  test("[CASE-10] all 720 orders of the six messages end with the one sealed row", async () => {
    const { frames } = await reconnecting();
    const { live, snapshot, replay, seal } = frames;
    const ends = new Set<string>();
    const tried = new Set<string>();
    let orders = 0;
    for (const order of permutations([live, snapshot, replay, live, seal, seal])) {
      orders += 1;
      // Two of them come twice, so each order is there four times over.
      const key = order.map((frame) => [live, snapshot, replay, seal].indexOf(frame)).join();
      if (tried.has(key)) continue;
      tried.add(key);
      const { peer, owner, block, bring } = await reconnecting();
      for (const frame of order) {
        bring(frame);
        const text = textOf(peer, block) ?? "";
        expect(text === "sealed" || "Hello world".startsWith(text)).toBe(true);
      }
      await peer.settle();
      showsTheTruth(owner, peer);
      const { rows, open, window } = peer.handle.snapshot();
      ends.add(JSON.stringify([rows, open, window]));
    }
    expect([orders, tried.size, ends.size]).toEqual([720, 180, 1]);
  }, 60_000);
});

function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const [i, item] of items.entries()) {
    for (const rest of permutations(items.filter((_, other) => other !== i))) yield [item, ...rest];
  }
}

test("[CASE-13] H10: whatever ids and clocks say, rows stand by seq: U1, A1, U2, A2 ...", async () => {
  const owner = new Owner();
  const peers = ["zzzz", "0000", "mmmm"].map((name) => new Peer(name, owner));
  await settle(...peers);
  const expected: string[] = [];
  const skews = [600_000, -600_000, 0, 0, 0];
  for (const [i, skewMs] of skews.entries()) {
    const peer = peers[i % peers.length];
    if (peer === undefined) throw new Error("there is a peer");
    peer.clock.time += skewMs;
    const id = peer.handle.send({ text: `U${i}` });
    await settle(...peers);
    const answer = owner.openBlock();
    owner.grow(answer, "ok");
    owner.endTurn();
    await settle(...peers);
    expected.push(id, answer);
  }
  for (const peer of peers) expect(peer.handle.snapshot().rows.map((row) => row.id)).toEqual(expected);
});

test("[CASE-11] H11: a snapshot does not erase what was just sent; at every point exactly one row has its id", async () => {
  const owner = new Owner();
  owner.sealMany(10);
  const peer = new Peer("A", owner);
  await peer.settle();
  owner.startTurn();
  peer.cut();
  const id = peer.handle.send({ text: "U1" });
  const places: string[] = [];
  const look = (): void => {
    const [place, ...more] = shownAs(peer, id);
    expect(more).toEqual([]);
    if (place !== undefined && place !== places.at(-1)) places.push(place);
  };
  const frames: Frame[] = [];
  owner.attach({}, (frame) => frames.push(frame));
  peer.client.probe();
  peer.accept();
  for (let i = 0; i < 20; i++) {
    look();
    peer.carryCommand();
    look();
    peer.carryFrame();
    await turns();
  }
  // The network layer sends the very message again.
  owner.send(id, "U1");
  owner.consume();
  await peer.settle();
  look();
  expect(places).toEqual(["pending", "queue", "rows"]);
  for (const late of frames) {
    peer.wire?.handlers.frame(JSON.stringify(late));
    look();
  }
  expect(places).toEqual(["pending", "queue", "rows"]);
  expect(peer.handle.snapshot().rows.map((row) => row.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(owner.rows.filter((row) => row.id === id)).toHaveLength(1);
});

describe("H13: a page is loaded in the middle of a stream", () => {
  async function streaming() {
    const owner = new Owner();
    owner.sealMany(3);
    owner.startTurn();
    const block = owner.openBlock();
    owner.grow(block, "x".repeat(500));
    const undisturbed = new Peer("U", owner);
    await undisturbed.settle();
    const loading = new Peer("L", owner);
    loading.accept();
    loading.carryCommand();
    loading.carryFrame();
    return { owner, block, undisturbed, loading };
  }
  test.each(["after it was answered", "before it is answered"])(
    "[CASE-12] a delta %s: the text is whole from its first character",
    async (when) => {
      const { owner, block, undisturbed, loading } = await streaming();
      if (when === "after it was answered") {
        while ((loading.wire?.toServer.length ?? 0) > 0) loading.carryCommand();
      }
      owner.grow(block, "y");
      await settle(loading, undisturbed);
      expect(loading.handle.snapshot().open).toMatchObject([{ id: block, text: `${"x".repeat(500)}y` }]);
      expect(loading.handle.snapshot().open).toEqual(undisturbed.handle.snapshot().open);
    },
  );
  test("[CASE-12] a seal in between: the rows of an undisturbed client", async () => {
    for (const carried of [0, 1, 2, 3]) {
      const { owner, block, undisturbed, loading } = await streaming();
      for (let i = 0; i < carried; i++) loading.carryCommand();
      owner.grow(block, "y");
      owner.sealBlock(block);
      await settle(loading, undisturbed);
      const { rows, open, status } = loading.handle.snapshot();
      expect({ rows, open, status }).toEqual({
        rows: undisturbed.handle.snapshot().rows,
        open: [],
        status: owner.status,
      });
      showsTheTruth(owner, loading);
    }
  });
});

describe("H17: a tab of 30,000 rows", () => {
  /** A client on a long tab, and how many rows it was given. */
  async function onLongTab() {
    const owner = new Owner();
    const text = "x".repeat(1000);
    for (let seq = 1; seq <= 30_000; seq++) owner.rows.push(textRow({ id: `c${seq}`, seq, text }));
    const fetched = { rows: 0 };
    const [head, page] = [owner.head.bind(owner), owner.page.bind(owner)];
    owner.head = (asked) => {
      const answer = head(asked);
      fetched.rows += answer.rows.length;
      return answer;
    };
    owner.page = (query) => {
      const answer = page(query);
      fetched.rows += answer.chunks.length;
      return answer;
    };
    const peer = new Peer("A", owner);
    await peer.settle();
    return { owner, peer, fetched };
  }
  test("[CLIENT-107] 20 pages up and back: at most 400 rows resident beside the live turn, each page read once", async () => {
    const { owner, peer, fetched } = await onLongTab();
    expect(fetched.rows).toBe(100);
    owner.startTurn();
    const live = owner.openBlock();
    for (const way of ["pageOlder", "pageNewer"] as const) {
      for (let i = 0; i < 20; i++) {
        void peer.handle[way]();
        owner.grow(live, "z");
        await peer.settle();
        const { rows, open, window } = peer.handle.snapshot();
        expect(rows.length).toBeLessThanOrEqual(limits.windowRowsMax);
        expect(open).toHaveLength(1);
        expect(window.hi - window.lo + 1).toBe(rows.length);
      }
      if (way === "pageOlder") expect(peer.handle.snapshot().window).toMatchObject({ lo: 27_901, hi: 28_300 });
    }
    expect(peer.handle.snapshot().window).toMatchObject({ hi: 30_000, attached: true });
    expect(fetched.rows).toBeLessThanOrEqual(100 + 40 * 100);
    showsTheTruth(owner, peer);
  });
  test("[CLIENT-107] after a turn of six chunks a client fetches at most 106 rows, connected or coming back", async () => {
    for (const away of [false, true]) {
      const { owner, peer, fetched } = await onLongTab();
      fetched.rows = 0;
      if (away) peer.cut();
      owner.startTurn();
      for (let chunk = 0; chunk < 6; chunk++) owner.sealBlock(owner.openBlock());
      owner.endTurn();
      await peer.settle();
      expect(peer.handle.snapshot().window).toMatchObject({ hi: 30_006, tail: 30_006, attached: true });
      expect(fetched.rows).toBe(away ? 6 : 0);
      showsTheTruth(owner, peer);
    }
  });
});
