import { describe, expect, test } from "vitest";
import type { OutboxState, OutboxStore, StoredOutboxEntry } from "./client.ts";
import { loadRetryMs, loadTriesMax, OutboxKeeper, storeWaitMs } from "./outbox-keeper.ts";
import { patienceFirstMs } from "./patience.ts";
import { messageId, Peer, StillClock, turns, watchedStore } from "./test-kit/net.ts";
import { chunkId, Owner, theTab } from "./test-kit/owner.ts";
import { storedEntry } from "./test-kit/profile.ts";

/** A store that answers when it is told to, or refuses. */
class MoodyStore implements OutboxStore {
  readonly rows = new Map<string, StoredOutboxEntry>();
  readonly done: string[] = [];
  refusing = false;
  silent = false;
  loads = 0;
  adopt: (entries: readonly StoredOutboxEntry[]) => void = () => {};
  load = () => {
    this.loads += 1;
    return this.#answer(() => [...this.rows.values()]);
  };
  put = (entry: StoredOutboxEntry) =>
    this.#answer(() => {
      this.rows.set(entry.id, entry);
      this.done.push(`put ${entry.id} ${entry.text}`);
    });
  remove = (id: string) =>
    this.#answer(() => {
      this.rows.delete(id);
      this.done.push(`remove ${id}`);
    });
  adopted = (take: (entries: readonly StoredOutboxEntry[]) => void) => {
    this.adopt = take;
    return () => {
      this.adopt = () => {};
    };
  };
  async #answer<T>(act: () => T): Promise<T> {
    await turns();
    if (this.silent) return await new Promise<never>(() => {});
    if (this.refusing) throw new Error("refused");
    return act();
  }
}

function keeping(mood: Partial<Pick<MoodyStore, "refusing" | "silent">> = {}) {
  const store = Object.assign(new MoodyStore(), mood);
  const clock = new StillClock();
  const told: string[] = [];
  const keeper = new OutboxKeeper(store, clock, {
    entries: (entries) => told.push(`entries ${entries.map((entry) => entry.id).join()}`),
    ready: () => told.push("ready"),
    changed: () => told.push(keeper.state().kind),
  });
  keeper.start();
  return { store, clock, told, keeper };
}
const put = (id: string, text = id) => ({ kind: "put", entry: { ...storedEntry(id), text } }) as const;
const quiet = async () => {
  for (let i = 0; i < 8; i++) await turns();
};

describe("the keeper of the outbox", () => {
  test("[OUTBOX-104] the store is read, then sending may begin", async () => {
    const { told, keeper, clock } = keeping();
    expect([keeper.state().kind, keeper.ready]).toEqual(["opening", false]);
    await quiet();
    expect(told).toEqual(["kept", "entries ", "ready"]);
    expect(clock.waiting).toBe(0);
  });
  test("[OUTBOX-104] a store that keeps silent holds up nothing for longer than a moment", async () => {
    const { told, clock, keeper } = keeping({ silent: true });
    clock.advance(storeWaitMs - 1);
    await quiet();
    expect(keeper.ready).toBe(false);
    clock.advance(1);
    expect(told).toEqual(["ready"]);
  });
  test("[OUTBOX-103] a store that refuses says so, is read again a few times, and holds up nothing", async () => {
    const { told, clock, keeper, store } = keeping({ refusing: true });
    await quiet();
    expect(told).toEqual(["memory", "ready"]);
    expect(keeper.state()).toMatchObject({ kind: "memory", message: expect.stringContaining("gone when the page") });
    for (let i = 0; i < 10; i++) {
      clock.advance(loadRetryMs);
      await quiet();
    }
    expect(store.loads).toBe(loadTriesMax);
    expect(clock.waiting).toBe(0);
  });
  test("[OUTBOX-103] one that refuses at first is read when it can be", async () => {
    const { told, clock, store } = keeping({ refusing: true });
    await quiet();
    store.refusing = false;
    store.rows.set("a", storedEntry("a"));
    clock.advance(loadRetryMs);
    await quiet();
    expect(told).toEqual(["memory", "ready", "kept", "entries a"]);
  });
  test("[OUTBOX-106] changes are made one after the other, the last of a message wins, and what was refused is tried again", async () => {
    const { store, keeper, told } = keeping();
    await quiet();
    store.refusing = true;
    keeper.write([put("a"), put("b")]);
    await quiet();
    expect(keeper.state().kind).toBe("memory");
    keeper.write([put("a", "newer"), { kind: "remove", id: chunkId("b") }]);
    await quiet();
    expect(store.done).toEqual([]);
    store.refusing = false;
    keeper.write([put("c")]);
    await quiet();
    expect(store.done).toEqual(["put a newer", "remove b", "put c c"]);
    expect(told.slice(-2)).toEqual(["memory", "kept"]);
    keeper.write([]);
    await quiet();
    expect(store.done).toHaveLength(3);
  });
  test("[OUTBOX-106] a change made while an earlier one of the message is on its way comes after it", async () => {
    const { store, keeper } = keeping();
    keeper.write([put("a", "1")]);
    keeper.write([put("a", "2")]);
    keeper.write([{ kind: "remove", id: chunkId("a") }]);
    await quiet();
    expect([...store.rows]).toEqual([]);
    expect(store.done.at(-1)).toBe("remove a");
  });
  test("[OUTBOX-103] after close it hears of nothing and leaves no timer, but still writes what it was given", async () => {
    const { store, keeper, told, clock } = keeping();
    keeper.write([put("a")]);
    keeper.close();
    store.adopt([storedEntry("late")]);
    await quiet();
    expect(told).toEqual([]);
    expect([...store.rows.keys()]).toEqual(["a"]);
    expect(clock.waiting).toBe(0);
  });
});

const texts = (owner: Owner): readonly string[] => [
  ...owner.rows.flatMap((row) => (row.type === "text" ? [row.data.text] : [])),
  ...owner.queue.map((message) => message.data.text),
];

describe("typing without a connection", () => {
  test("[OUTBOX-104] all that was typed offline goes out in order after a reload, though the clock went back meanwhile", async () => {
    const owner = new Owner();
    const store = watchedStore();
    const before = new Peer("A", owner, { store });
    await turns();
    for (const [i, text] of ["one", "two", "three", "four"].entries()) {
      before.clock.time += i % 2 === 0 ? 5 : -60_000;
      before.handle.send({ text });
    }
    await turns();
    before.client.close();
    // The browser's database gives entries by their ids, which say nothing about order.
    const shuffled = [...store.entries].sort(([a], [b]) => (a < b ? 1 : -1));
    store.entries.clear();
    for (const [id, entry] of shuffled) store.entries.set(id, entry);
    const after = new Peer("B", owner, { store });
    await turns();
    after.handle.send({ text: "five" });
    expect(after.handle.snapshot().pending.map((entry) => entry.text)).toEqual(["one", "two", "three", "four", "five"]);
    await after.settle();
    expect(texts(owner)).toEqual(["one", "two", "three", "four", "five"]);
    expect(after.handle.snapshot().pending).toEqual([]);
  });
  test("[OUTBOX-104] a message typed before the store was read waits for those in it", async () => {
    const owner = new Owner();
    const store = watchedStore();
    store.entries.set("old", { ...storedEntry("old"), at: 1 });
    let read = (): void => {};
    const load = store.load;
    store.load = async () => {
      await new Promise<void>((go) => {
        read = go;
      });
      return await load();
    };
    const peer = new Peer("A", owner, { store });
    peer.accept();
    await peer.settle();
    expect(peer.handle.snapshot().ready).toBe(true);
    peer.handle.send({ text: "new" });
    await peer.settle();
    expect(texts(owner)).toEqual([]);
    read();
    await turns();
    await peer.settle();
    expect(texts(owner)).toEqual(["old", "new"]);
  });
  test("[OUTBOX-104] a message that is refused in passing is not overtaken by those that were typed behind it", async () => {
    const owner = new Owner();
    const peer = new Peer("A", owner);
    await peer.settle();
    owner.startTurn();
    await peer.settle();
    let refusals = 0;
    peer.intercept = (command, reply) => {
      if (command.type !== "send" || command.text !== "one" || refusals === 2) return false;
      refusals += 1;
      reply({ type: "err", re: command.re, code: "log-fenced", message: "Another owner." });
      return true;
    };
    for (const text of ["one", "two"]) peer.handle.send({ text });
    await peer.settle();
    expect(texts(owner)).toEqual([]);
    peer.handle.send({ text: "three" });
    await peer.settle();
    expect(texts(owner)).toEqual([]);
    peer.clock.advance(patienceFirstMs);
    await peer.settle();
    expect(texts(owner)).toEqual(["one", "two", "three"]);
    expect(peer.handle.snapshot().pending).toEqual([]);
  });
  test("[OUTBOX-104] one that is refused for good holds up nobody", async () => {
    const owner = new Owner();
    const peer = new Peer("A", owner);
    await peer.settle();
    peer.intercept = (command, reply) => {
      if (command.type !== "send" || command.text !== "one") return false;
      reply({ type: "err", re: command.re, code: "internal", message: "It broke." });
      return true;
    };
    for (const text of ["one", "two"]) peer.handle.send({ text });
    await peer.settle();
    expect(texts(owner)).toEqual(["two"]);
    expect(peer.handle.snapshot().pending).toMatchObject([{ text: "one", state: "refused" }]);
  });
  test("[OUTBOX-6] accepted messages that come out of the store behind the first head are looked up as well", async () => {
    const owner = new Owner();
    const before = new Peer("A", owner);
    await before.settle();
    const stays = before.handle.send({ text: "in the backup" });
    await before.settle();
    owner.sealMany(300);
    const backup = owner.backup();
    const gone = before.handle.send({ text: "rolled back" });
    await before.settle();
    owner.restore(backup);
    let read = (): void => {};
    const store = Object.assign(watchedStore(), {
      load: async () => {
        await new Promise<void>((go) => {
          read = go;
        });
        return [...before.store.entries.values()];
      },
    });
    before.client.close();
    const after = new Peer("B", owner, { store });
    await after.settle();
    expect(after.handle.snapshot()).toMatchObject({ ready: true, lost: [] });
    read();
    await turns();
    await after.settle();
    expect(after.handle.snapshot().lost.map((entry) => entry.id)).toEqual([gone]);
    expect(store.entries.get(stays)).toMatchObject({ term: owner.term });
  });
  test("[OUTBOX-100] messages of another page that ended are sent when they come, also for a tab that nobody has open", async () => {
    const owner = new Owner();
    const moody = new MoodyStore();
    const store = Object.assign(watchedStore(), { adopted: moody.adopted });
    const peer = new Peer("A", owner, { store });
    peer.handle.close();
    await peer.settle();
    moody.adopt([storedEntry("left-behind")]);
    await peer.settle();
    expect(owner.rows.map((row) => row.id)).toEqual(["left-behind"]);
    expect(peer.commands.at(-1)).toEqual({ type: "unsub", tab: theTab });
  });
  test("[OUTBOX-105] a refused message is still refused when its tab is opened again, and after a reload", async () => {
    const owner = new Owner();
    const store = watchedStore();
    const peer = new Peer("A", owner, { store });
    await peer.settle();
    peer.intercept = (command, reply) => {
      if (command.type !== "send") return false;
      reply({ type: "err", re: command.re, code: "message-too-large", message: "It is too long." });
      return true;
    };
    const id = peer.handle.send({ text: "too long" });
    await peer.settle();
    const refused = { id, state: "refused", error: { code: "message-too-large" }, text: "too long" };
    expect(peer.handle.snapshot().pending).toMatchObject([refused]);
    peer.handle.close();
    await peer.settle();
    expect(peer.client.open(theTab).snapshot().pending).toMatchObject([refused]);
    peer.client.close();
    const after = new Peer("B", owner, { store });
    await after.settle();
    expect(after.handle.snapshot().pending).toMatchObject([refused]);
    expect(after.commands.map((command) => command.type)).not.toContain("send");
    after.handle.resend(id);
    await after.settle();
    expect(owner.rows.map((row) => row.id)).toEqual([id]);
    expect(store.entries.get(id)).not.toHaveProperty("refused");
  });
  test("[OUTBOX-105] a message that is offered again after a restore outlives the closing of its tab", async () => {
    const owner = new Owner();
    owner.sealMany(2);
    const backup = owner.backup();
    const peer = new Peer("A", owner);
    await peer.settle();
    const id = peer.handle.send({ text: "rolled back" });
    await peer.settle();
    owner.restore(backup);
    await peer.settle();
    expect(peer.handle.snapshot().lost).toMatchObject([{ id }]);
    peer.handle.close();
    const again = peer.client.open(theTab);
    expect(again.snapshot().lost).toMatchObject([{ id }]);
    again.forget(id);
    expect(again.snapshot().lost).toEqual([]);
    expect(messageId("A", 1)).toBe(id);
  });
  test("[OUTBOX-103] the client says whether what is typed outlives the page", async () => {
    const states: OutboxState["kind"][] = [];
    const store = Object.assign(watchedStore(), { put: () => Promise.reject(new Error("full")) });
    const peer = new Peer("A", new Owner(), { store });
    states.push(peer.client.outbox().kind);
    await turns();
    states.push(peer.client.outbox().kind);
    peer.client.onChange(() => states.push(peer.client.outbox().kind));
    peer.handle.send({ text: "typed" });
    await turns();
    expect(states).toEqual(["opening", "kept", "memory"]);
    expect(peer.handle.snapshot().pending).toMatchObject([{ text: "typed", state: "waiting" }]);
  });
});
