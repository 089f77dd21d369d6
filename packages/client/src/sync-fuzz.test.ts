/**
 * Two clients and one owner under any order of events: frames, commands and pages are carried in any interleaving, cut off,
 * carried twice; owners crash; logs are cleared; databases are restored. After every step nothing may be shown twice,
 * invented or forgotten; when the faults end, both clients show what the owner holds.
 */
import type { ChunkId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TabSnapshot } from "./client.ts";
import { Peer, turns } from "./test-kit/net.ts";
import { Owner } from "./test-kit/owner.ts";

const peerActs = [
  "accept",
  "command",
  "frame",
  "frames",
  "serve",
  "page",
  "cut",
  "late",
  "again",
  "lose",
  "swap",
  "reload",
  "wake",
  "older",
  "newer",
  "to-end",
  "send",
  "cancel",
  "edit",
] as const;
const ownerActs = [
  "start",
  "end",
  "open",
  "grow",
  "seal",
  "drop",
  "consume",
  "many",
  "restart",
  "clear",
  "backup",
  "restore",
] as const;
type PeerAct = (typeof peerActs)[number];
type OwnerAct = (typeof ownerActs)[number];
type Step =
  | { readonly who: 0 | 1; readonly act: PeerAct; readonly pick: number }
  | { readonly owner: OwnerAct; readonly pick: number };

/** How often each act is drawn; 0: never in this scope. */
type Weights = Readonly<Record<PeerAct | OwnerAct, number>>;
const plain: Weights = {
  accept: 8,
  command: 16,
  frame: 20,
  frames: 12,
  serve: 4,
  page: 6,
  cut: 3,
  late: 3,
  again: 0,
  lose: 0,
  swap: 0,
  reload: 1,
  wake: 5,
  older: 2,
  newer: 1,
  "to-end": 1,
  send: 6,
  cancel: 3,
  edit: 3,
  start: 3,
  end: 2,
  open: 6,
  grow: 12,
  seal: 5,
  drop: 1,
  consume: 4,
  many: 0,
  restart: 1,
  clear: 0,
  backup: 0,
  restore: 0,
};

interface Trace {
  /** Rows in the log when both clients first subscribe. */
  readonly before: number;
  readonly steps: readonly Step[];
}

function traces(weights: Weights, lengths: readonly number[]): fc.Arbitrary<Trace> {
  const who = fc.constantFrom<0 | 1>(0, 1);
  const pick = fc.nat(1000);
  const ofPeers = peerActs.map((act) => ({
    weight: weights[act],
    arbitrary: fc.record({ who, act: fc.constant(act), pick }),
  }));
  const ofOwner = ownerActs.map((owner) => ({
    weight: weights[owner],
    arbitrary: fc.record({ owner: fc.constant(owner), pick }),
  }));
  const step: fc.Arbitrary<Step> = fc.oneof(...ofPeers, ...ofOwner);
  return fc.record({
    before: fc.constantFrom(...lengths),
    steps: fc.array(step, { minLength: 30, maxLength: 160, size: "max" }),
  });
}

class World {
  readonly owner = new Owner();
  readonly peers: [Peer, Peer] = [new Peer("A", this.owner), new Peer("B", this.owner)];
  readonly sent: readonly [ChunkId[], ChunkId[]] = [[], []];
  restored = false;
  readonly #checked: [TabSnapshot | undefined, TabSnapshot | undefined] = [undefined, undefined];
  #backup = this.owner.backup();
  #lives = 0;

  /** Both clients are there from the beginning, at a log of some length. */
  async begin(rows: number): Promise<void> {
    if (rows > 0) this.owner.sealMany(rows);
    for (const peer of this.peers) await peer.settle();
  }

  async take(step: Step): Promise<void> {
    if ("owner" in step) this.#ownerActs(step.owner, step.pick);
    else this.#peerActs(step.who, step.act, step.pick);
    await turns();
  }

  #ownerActs(act: OwnerAct, pick: number): void {
    const { owner } = this;
    const idle = owner.status.state === "idle";
    const block = [...owner.open.keys()][pick % Math.max(1, owner.open.size)];
    const onBlock = (then: (id: ChunkId) => void) => () => {
      if (block !== undefined) then(block);
    };
    const acts: Readonly<Record<OwnerAct, () => void>> = {
      start: () => idle && owner.startTurn(),
      end: () => !idle && owner.endTurn(),
      open: () => owner.open.size < 3 && owner.openBlock(),
      grow: onBlock((id) => owner.grow(id, ["a", "bc", "aa", "😀", "\ud83d", "\ude00"][pick % 6] ?? "")),
      seal: onBlock((id) => owner.sealBlock(id)),
      drop: onBlock((id) => owner.dropBlock(id)),
      consume: () => owner.consume(),
      many: () => owner.sealMany(40 + (pick % 90)),
      restart: () => owner.restart(),
      clear: () => owner.clear(),
      backup: () => {
        this.#backup = owner.backup();
      },
      restore: () => {
        owner.restore(this.#backup);
        this.restored = true;
      },
    };
    acts[act]();
  }

  #peerActs(who: 0 | 1, act: PeerAct, pick: number): void {
    const peer = this.peers[who];
    const { queue } = peer.handle.snapshot();
    const waiting = queue[pick % Math.max(1, queue.length)]?.id;
    const acts: Readonly<Record<PeerAct, () => void>> = {
      accept: () => peer.accept(),
      command: () => peer.carryCommand(),
      frame: () => peer.carryFrame(),
      frames: () => {
        for (let i = 0; i < 2 + (pick % 5); i++) peer.carryFrame();
      },
      serve: () => peer.servePage(),
      page: () => peer.answerPage(),
      cut: () => peer.cut(),
      late: () => peer.carryLate(),
      again: () => peer.carryAgain(pick),
      lose: () => peer.loseFrame(),
      swap: () => peer.swapFrames(),
      reload: () => this.#reload(who),
      wake: () => peer.client.probe(),
      older: () => void peer.handle.pageOlder(),
      newer: () => void peer.handle.pageNewer(),
      "to-end": () => void peer.handle.toEnd(),
      send: () => this.sent[who].push(peer.handle.send({ text: `hello from ${peer.name}` })),
      cancel: () => void (waiting && peer.handle.cancel(waiting)),
      edit: () => void (waiting && peer.handle.edit(waiting, `edited at ${this.owner.n}`)),
    };
    acts[act]();
  }

  /** The page begins anew: what it had typed is in its store, nothing else of it is left. */
  #reload(who: 0 | 1): void {
    const before = this.peers[who];
    before.cut();
    before.client.close();
    this.#lives += 1;
    this.peers[who] = new Peer(`${before.name}${this.#lives}`, this.owner, { store: before.store });
  }

  /** What must hold after every step. Only what changed is looked at: most steps change one part of one snapshot. */
  check(): void {
    for (const index of [0, 1] as const) {
      const snapshot = this.peers[index].handle.snapshot();
      const before = this.#checked[index];
      if (snapshot === before) continue;
      this.#checked[index] = snapshot;
      expect(placesTwice(snapshot)).toEqual([]);
      expect(snapshot.window.hi).toBeLessThanOrEqual(snapshot.window.tail);
      if (snapshot.rows !== before?.rows) this.#checkRows(snapshot);
      for (const open of snapshot.open) {
        expect(open.text === "" || this.#everSaid(open.id).some((text) => text.startsWith(open.text))).toBe(true);
      }
      for (const message of snapshot.queue) expect(this.#everSaid(message.id)).toContain(message.data.text);
      this.#checkOwn(snapshot, this.sent[index]);
    }
  }

  #checkRows(snapshot: TabSnapshot): void {
    expect(holes(snapshot)).toEqual([]);
    expect(snapshot.rows.length).toBeLessThanOrEqual(400);
    const invented = snapshot.rows.filter(
      (row) => row.type === "text" && !this.#everSaid(row.id).includes(row.data.text),
    );
    expect(invented).toEqual([]);
    const ofAnotherLog = snapshot.rows.filter((row) => !this.owner.everRows.has(`${snapshot.logId} ${row.id}`));
    expect(ofAnotherLog).toEqual([]);
  }

  /**
   * What this client sent is shown, or the owner has ended it or sealed it elsewhere in the log. A page that has just begun
   * shows what waits with its first head.
   */
  #checkOwn({ rows, queue, pending, lost, ready }: TabSnapshot, sent: readonly ChunkId[]): void {
    const shown = new Set([...rows, ...queue, ...pending, ...lost].map((item) => item.id));
    for (const id of sent) {
      if (shown.has(id)) continue;
      if (!this.restored)
        expect(this.owner.inbox.get(id), `own message ${id}`).toMatch(
          ready ? /sealed|dropped/ : /queued|sealed|dropped/,
        );
      expect(this.#everSaid(id).length, `own message ${id}`).toBeGreaterThan(0);
    }
  }

  #everSaid(id: ChunkId): readonly string[] {
    return this.owner.everTexts.get(id) ?? [];
  }

  /** The faults end: everything is carried, and both clients read to the end. */
  async heal(): Promise<void> {
    for (const peer of this.peers) {
      await peer.settle();
      void peer.handle.toEnd();
      await peer.settle();
    }
    // Whatever was lost shows as soon as anything follows it.
    this.owner.announce();
    for (const peer of this.peers) await peer.settle();
  }

  checkAtRest(): void {
    const { owner } = this;
    for (const [index, peer] of this.peers.entries()) {
      const { rows, open, queue, pending, status, window, logId, lost } = peer.handle.snapshot();
      expect(logId).toBe(owner.log);
      expect(window).toMatchObject({ tail: owner.tail, attached: true, hi: owner.tail, paging: null });
      expect(rows).toEqual(owner.rows.slice(window.lo === 0 ? 0 : window.lo - 1));
      expect(open.map(({ id, text }) => [id, text])).toEqual(
        [...owner.open.values()].map(({ block, text }) => [block.id, text]),
      );
      expect(queue).toEqual(owner.queue);
      expect(status).toEqual(owner.status);
      expect(pending).toEqual([]);
      for (const id of this.sent[index === 0 ? 0 : 1]) {
        if (owner.everDropped.has(id)) continue;
        const fate = owner.inbox.get(id) ?? (lost.some((entry) => entry.id === id) ? "lost" : "forgotten");
        expect(fate, `own message ${id}`).not.toBe("forgotten");
        if (!this.restored) expect(fate).not.toBe("lost");
      }
    }
  }
}

function placesTwice({ rows, open, queue, pending }: TabSnapshot): readonly string[] {
  const seen = new Set<string>();
  return [...rows, ...open, ...queue, ...pending].map((item) => item.id).filter((id) => seen.has(id) || !seen.add(id));
}
const holes = ({ rows }: TabSnapshot): readonly number[] =>
  rows.filter((row, i) => i > 0 && row.seq !== (rows[i - 1]?.seq ?? 0) + 1).map((row) => row.seq);

async function run(trace: Trace): Promise<void> {
  const world = new World();
  await world.begin(trace.before);
  for (const step of trace.steps) {
    await world.take(step);
    world.check();
  }
  await world.heal();
  world.check();
  world.checkAtRest();
}

describe("any interleaving", () => {
  const short = [0, 1, 7];
  const scopes: readonly (readonly [string, Weights, readonly number[], number])[] = [
    ["turns, queue, cancels, edits, cuts, crashes", plain, short, 300],
    ["frames that come twice, at any later time", { ...plain, again: 10 }, short, 300],
    ["ops that are lost on a living connection", { ...plain, again: 4, lose: 6 }, short, 300],
    ["frames that overtake one another", { ...plain, swap: 8, again: 3 }, short, 300],
    ["cleared logs", { ...plain, again: 6, clear: 2, older: 8, serve: 8, page: 6 }, [7, 150, 250], 300],
    ["restored databases", { ...plain, backup: 2, restore: 2, restart: 2, many: 1, page: 8 }, [0, 7], 400],
    [
      "long logs: pages, eviction, detached windows",
      { ...plain, many: 4, older: 10, newer: 6, "to-end": 4, page: 20, again: 3 },
      [90, 350, 399, 900],
      250,
    ],
  ];
  test.each(scopes)(
    "[SYNC-1] %s",
    async (_name, weights, lengths, numRuns) => {
      await fc.assert(fc.asyncProperty(traces(weights, lengths), run), { numRuns });
    },
    120_000,
  );
});
