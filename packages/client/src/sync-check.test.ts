import type { Command, Page } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import type { SyncCheck } from "./client.ts";
import { checkTriesMax } from "./sync-check.ts";
import { Peer, turns } from "./test-kit/net.ts";
import { Owner, textRow, theTab } from "./test-kit/owner.ts";

async function connected(rows: number): Promise<{ readonly owner: Owner; readonly peer: Peer }> {
  const owner = new Owner();
  if (rows > 0) owner.sealMany(rows);
  const peer = new Peer("A", owner);
  await peer.settle();
  return { owner, peer };
}

/** Carries everything until the check has its outcome; its own part of the program is loaded by the runtime meanwhile. */
async function outcomeOf(peer: Peer, check: Promise<SyncCheck>, carry: () => void = () => {}): Promise<SyncCheck> {
  let outcome: SyncCheck | undefined;
  void check.then((told) => {
    outcome = told;
  });
  for (let round = 0; outcome === undefined && round < 10_000; round++) {
    await new Promise<void>((goOn) => setImmediate(goOn));
    carry();
    peer.clock.advance(0);
    await peer.settle();
  }
  if (outcome === undefined) throw new Error("the check never ends");
  return outcome;
}
const check = (peer: Peer, carry?: () => void) => outcomeOf(peer, peer.handle.checkSync(), carry);

/** The link changes the rows of the next pages and frames, as a fault of ours or of a proxy would. */
async function corrupted(rows: number, at: number) {
  const world = await connected(0);
  const { owner, peer } = world;
  peer.cut();
  owner.sealMany(rows);
  const right = owner.rows[at - 1];
  if (right === undefined) throw new Error("a test corrupts a row that exists");
  owner.rows[at - 1] = textRow({ id: right.id, seq: at, term: right.term, text: "not what was sealed" });
  await peer.settle();
  owner.rows[at - 1] = right;
  return { ...world, right };
}

describe("comparing the window", () => {
  test("[CLIENT-102] the same rows are the same, and the server was told our digest", async () => {
    const { owner, peer } = await connected(150);
    expect(peer.handle.snapshot().sync).toEqual({ state: "unknown", lo: 0, hi: 0, at: 0, mismatches: 0 });
    const told = await check(peer);
    expect(told).toEqual({ state: "same", lo: 51, hi: 150, at: peer.clock.time, mismatches: 0 });
    expect(peer.handle.snapshot().sync).toBe(told);
    expect([owner.digestChecks, owner.digestMismatches]).toEqual([1, 0]);
  });
  test("[CLIENT-102] a tab without rows is the same as itself, and one that was never loaded is not compared", async () => {
    const { owner, peer } = await connected(0);
    expect(await check(peer)).toMatchObject({ state: "same", lo: 0, hi: 0 });
    expect(owner.digestChecks).toBe(0);
    const early = new Peer("B", owner);
    const told = await check(early, () => early.cut());
    expect(told).toMatchObject({ state: "failed", error: { code: "log-unavailable" } });
  });
  test("[CLIENT-102] rows that are sealed meanwhile don't disturb it", async () => {
    const { owner, peer } = await connected(20);
    const told = await check(peer, () => owner.tail < 60 && owner.sealMany(5));
    expect(told).toMatchObject({ state: "same", lo: 1, mismatches: 0 });
    expect([owner.digestChecks, owner.digestMismatches]).toEqual([1, 0]);
  });
  test("[CLIENT-102] a window of many bytes is hashed in slices: the page breathes in between", async () => {
    const owner = new Owner();
    for (let seq = 1; seq <= 12; seq++) owner.rows.push(textRow({ id: `r${seq}`, seq, text: "x".repeat(100_000) }));
    const peer = new Peer("A", owner);
    await peer.settle();
    let breaths = 0;
    const told = await check(peer, () => {
      breaths += peer.clock.waiting > 1 ? 1 : 0;
    });
    expect(told).toMatchObject({ state: "same", lo: 1, hi: 12 });
    expect(breaths).toBeGreaterThanOrEqual(4);
  });
  test("[CLIENT-105] whoever asks during a check gets its outcome; what is shown meanwhile says so", async () => {
    const { owner, peer } = await connected(5);
    const [first, second] = [peer.handle.checkSync(), peer.handle.checkSync()];
    expect(second).toBe(first);
    expect(peer.handle.snapshot().sync.state).toBe("checking");
    const before = peer.handle.snapshot();
    await outcomeOf(peer, first);
    expect(owner.digestChecks).toBe(1);
    const after = peer.handle.snapshot();
    for (const part of ["rows", "open", "queue", "pending", "window", "status"] as const)
      expect(after[part]).toBe(before[part]);
    expect(peer.handle.snapshot()).toBe(after);
  });
  test("[CLIENT-105] a head that wipes the rows makes the outcome unknown; one that goes on does not", async () => {
    const { owner, peer } = await connected(5);
    await check(peer);
    peer.cut();
    await peer.settle();
    expect(peer.handle.snapshot().sync.state).toBe("same");
    owner.clear();
    await peer.settle();
    expect(peer.handle.snapshot().sync).toMatchObject({ state: "unknown", mismatches: 0 });
  });
});

describe("a difference", () => {
  test.each([1, 37, 100])("[CLIENT-103] a corrupted row at place %i is found, counted and healed", async (place) => {
    const { owner, peer, right } = await corrupted(100, place);
    const before = peer.handle.snapshot();
    expect(before.rows[place - 1]).not.toEqual(right);
    expect(await check(peer)).toMatchObject({ state: "healed", lo: 1, hi: 100, mismatches: 1 });
    const after = peer.handle.snapshot();
    expect(after.rows).toEqual(owner.rows);
    expect(after.window).toEqual(before.window);
    after.rows.forEach((row, i) => {
      if (i !== place - 1) expect(row).toBe(before.rows[i]);
    });
    expect([owner.digestChecks, owner.digestMismatches]).toEqual([2, 1]);
    expect(await check(peer)).toMatchObject({ state: "same", mismatches: 1 });
  });
  test("[CLIENT-103] a row that never was, in the place of another, is healed in a detached window as well", async () => {
    const owner = new Owner();
    owner.sealMany(600);
    const peer = new Peer("A", owner);
    await peer.settle();
    const right = owner.rows[250];
    owner.rows[250] = textRow({ id: "an-invented-one", seq: 251 });
    for (let i = 0; i < 4; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    if (right !== undefined) owner.rows[250] = right;
    const { window } = peer.handle.snapshot();
    expect(window).toMatchObject({ lo: 101, hi: 500, attached: false });
    expect(await check(peer)).toMatchObject({ state: "healed", lo: 101, hi: 500, mismatches: 1 });
    expect(peer.handle.snapshot().rows).toEqual(owner.rows.slice(100, 500));
    expect(peer.handle.snapshot().window).toEqual(window);
  });
  test("[CLIENT-103] what streams in while it is read anew is kept", async () => {
    const { owner, peer } = await corrupted(30, 7);
    const mine = peer.handle.send({ text: "mine" });
    const told = await check(peer, () => owner.tail < 50 && owner.sealMany(3));
    expect(told).toMatchObject({ state: "healed", mismatches: 1 });
    expect(peer.handle.snapshot().rows).toEqual(owner.rows);
    expect(peer.handle.snapshot().rows.filter((row) => row.id === mine)).toHaveLength(1);
  });
  test("[CLIENT-103] pages that don't fit the digest leave it `different`, and it is counted once here", async () => {
    const { owner, peer } = await connected(10);
    const truly = owner.page.bind(owner);
    owner.page = (query): Page => {
      const page = truly(query);
      return { ...page, chunks: page.chunks.map((row) => (row.seq === 4 ? textRow({ id: "wrong", seq: 4 }) : row)) };
    };
    peer.cut();
    const fourth = owner.rows[3];
    owner.rows[3] = textRow({ id: "wrong", seq: 4, term: 1 });
    owner.restart();
    const other = new Peer("B", owner);
    await other.settle();
    if (fourth !== undefined) owner.rows[3] = fourth;
    expect(await check(other)).toMatchObject({ state: "different", lo: 1, hi: 10, mismatches: 1 });
    expect(owner.digestMismatches).toBe(2);
  });
});

describe("when it cannot be compared", () => {
  test("[CLIENT-104] offline, and without an answer, the check says so and changes nothing", async () => {
    const { peer } = await connected(10);
    const { rows } = peer.handle.snapshot();
    peer.reachable = false;
    expect(await check(peer)).toMatchObject({ state: "failed", error: { message: "unreachable" }, mismatches: 0 });
    peer.cut();
    const offline = peer.handle.checkSync();
    for (let round = 0; round < 50; round++) await new Promise<void>((goOn) => setImmediate(goOn));
    expect(await offline).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("no connection") },
    });
    expect(peer.handle.snapshot().rows).toBe(rows);
  });
  test("[CLIENT-104] a server without digests is told apart from a difference", async () => {
    const { owner, peer } = await connected(10);
    const body = owner.headBody.bind(owner);
    Object.assign(owner, { headBody: (path: string) => ({ ...body(path), digest: undefined }) });
    expect(await check(peer)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("no digest") },
    });
  });
  test("[CLIENT-104] a new owner or log in between is compared anew under its own term", async () => {
    for (const move of ["restart", "clear"] as const) {
      const { owner, peer } = await connected(10);
      const running = peer.handle.checkSync();
      while (peer.pages.length === 0) await new Promise<void>((goOn) => setImmediate(goOn));
      owner[move]();
      owner.sealMany(2);
      const told = await outcomeOf(peer, running);
      expect(told).toMatchObject({ state: "same", hi: owner.tail, mismatches: 0 });
      expect(owner.digestMismatches).toBe(0);
    }
  });
  test("[CLIENT-104] a tab that moves on each time ends the check, bounded", async () => {
    const { owner, peer } = await connected(10);
    let moves = 0;
    const body = owner.headBody.bind(owner);
    Object.assign(owner, {
      headBody: (path: string) => {
        moves += 1;
        owner.restart();
        return body(path);
      },
    });
    expect(await check(peer)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("moved on") },
    });
    expect(moves).toBe(checkTriesMax);
    expect(owner.digestMismatches).toBe(0);
  });
  test("[CLIENT-104] a client that is closed ends its check", async () => {
    const { peer } = await connected(10);
    const running = peer.handle.checkSync();
    peer.client.close();
    for (let round = 0; round < 50; round++) {
      await new Promise<void>((goOn) => setImmediate(goOn));
      peer.answerPage();
      await turns();
    }
    expect((await running).state).toBe("failed");
  });
});

test("[CLIENT-100] a call is asked to go on in the background, under the turn that is shown, and answered once", async () => {
  const { owner, peer } = await connected(0);
  owner.startTurn();
  await peer.settle();
  const moved = peer.handle.background("call-1");
  const sent: Command | undefined = peer.commands.at(-1);
  expect(sent).toMatchObject({ type: "background", tab: theTab, callId: "call-1", turnId: owner.status.turnId });
  await peer.settle();
  expect(await moved).toBeNull();
  const cut = peer.handle.background("call-1");
  peer.cut();
  expect(await cut).toMatchObject({ code: "log-unavailable" });
  expect(await peer.handle.background("call-1")).toMatchObject({
    message: expect.stringContaining("nothing was changed"),
  });
});
