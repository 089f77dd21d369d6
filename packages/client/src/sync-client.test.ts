import { limits, type TabRecord } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { keptMs } from "./outbox.ts";
import { messageId, Peer, turns, watchedStore } from "./test-kit/net.ts";
import { logId, Owner, theTab } from "./test-kit/owner.ts";

async function connected(rows = 0): Promise<{ readonly owner: Owner; readonly peer: Peer }> {
  const owner = new Owner();
  if (rows > 0) owner.sealMany(rows);
  const peer = new Peer("A", owner);
  await peer.settle();
  return { owner, peer };
}
const ids = (items: readonly { readonly id: string }[]): readonly string[] => items.map((item) => item.id);
const types = (peer: Peer): readonly string[] => peer.commands.map((command) => command.type);

describe("joining", () => {
  test("[CLIENT-1] hello, then the tab list, then each tab, then its outbox; nothing before the server's hello", async () => {
    const peer = new Peer("A", new Owner(), { build: "build-1" });
    peer.handle.send({ text: "typed before anything" });
    expect(peer.handle.snapshot()).toMatchObject({ ready: false, pending: [{ state: "waiting" }] });
    peer.accept();
    expect(types(peer)).toEqual(["hello"]);
    expect(peer.commands[0]).toEqual({ type: "hello", v: [1], client: "A", build: "build-1", key: "key" });
    await peer.settle();
    expect(types(peer)).toEqual(["hello", "sub-workspace", "sub", "send"]);
    expect(peer.handle.snapshot()).toMatchObject({ ready: true, pending: [], rows: [{ id: "A-1" }] });
    expect(peer.client.connection()).toEqual({ kind: "live" });
  });
  test("[CLIENT-2] a reconnect asks for what follows the newest row it has, never for everything", async () => {
    const { owner, peer } = await connected(11);
    const block = owner.openBlock();
    owner.grow(block, "Hello ");
    await peer.settle();
    peer.cut();
    expect(peer.client.connection().kind).toBe("waiting");
    owner.grow(block, "world");
    await peer.settle();
    expect(peer.commands.filter((command) => command.type === "sub").at(-1)).toMatchObject({
      have: { log: "log-1", term: 1, seq: 11 },
      open: { [block]: 6 },
    });
    expect(peer.handle.snapshot().open).toMatchObject([{ text: "Hello world" }]);
  });
  test("[CLIENT-2] an empty tab is asked for from its beginning", async () => {
    const { peer } = await connected();
    peer.cut();
    await peer.settle();
    expect(peer.commands.at(-1)).toMatchObject({ type: "sub", have: { seq: 0 } });
  });
  test("[CLIENT-3] a page of another build is told to reload and sends nothing more", async () => {
    const peer = new Peer("A", new Owner(), { build: "an older one" });
    peer.accept();
    peer.carryCommand();
    peer.carryFrame();
    expect(peer.client.connection()).toMatchObject({ kind: "refused", code: "other-build" });
    expect(types(peer)).toEqual(["hello"]);
    await turns();
    expect(peer.clock.waiting).toBe(0);
  });
  test("[CLIENT-3] whoever is not signed in is told so, and tries again only when asked", async () => {
    const { peer } = await connected();
    peer.cut(4401);
    expect(peer.client.connection()).toMatchObject({ kind: "refused", code: "unauthorized" });
    peer.clock.advance(3_600_000);
    expect(peer.wire).toBeUndefined();
    peer.client.probe();
    await peer.settle();
    expect(peer.client.connection().kind).toBe("live");
  });
  test("[CLIENT-4] a silent connection is given up after 40 s; pings keep it, and are answered", async () => {
    const { peer } = await connected();
    const heartbeat = (): void => {
      peer.clock.advance(limits.pingIntervalMs);
      peer.wire?.handlers.frame(JSON.stringify({ type: "ping", ts: peer.clock.time }));
    };
    for (let i = 0; i < 10; i++) heartbeat();
    expect(peer.client.connection().kind).toBe("live");
    expect(peer.commands.at(-1)).toEqual({ type: "pong", ts: peer.clock.time });
    peer.clock.advance(limits.silenceMaxMs - 1);
    expect(peer.client.connection().kind).toBe("live");
    peer.clock.advance(1);
    expect(peer.client.connection().kind).toBe("waiting");
  });
  test("[CLIENT-4] a socket that never opens, or never greets, is given up as well", () => {
    const peer = new Peer("A", new Owner());
    peer.clock.advance(limits.silenceMaxMs);
    expect(peer.client.connection().kind).toBe("waiting");
    peer.clock.advance(1000);
    peer.accept();
    peer.clock.advance(limits.silenceMaxMs);
    expect(peer.client.connection()).toMatchObject({ kind: "waiting", attempt: 3 });
  });
  test("[CLIENT-5] frames of a former socket are ignored, whenever they come", async () => {
    const { owner, peer } = await connected();
    const former = peer.wire;
    peer.cut();
    await peer.settle();
    owner.startTurn();
    former?.handlers.frame(JSON.stringify(owner.head()));
    former?.handlers.closed(4401);
    expect(peer.handle.snapshot().status.state).toBe("idle");
    expect(peer.client.connection().kind).toBe("live");
  });
  test("[CLIENT-5] what is no frame is ignored", async () => {
    const { peer } = await connected();
    const before = peer.handle.snapshot();
    for (const text of [
      "",
      "{",
      "null",
      "[]",
      '"x"',
      '{"type":"weather"}',
      '{"type":"ops","tab":"tab"}',
      '{"type":"head"}',
    ]) {
      peer.wire?.handlers.frame(text);
    }
    expect(peer.handle.snapshot()).toBe(before);
    expect(peer.client.connection().kind).toBe("live");
  });
});

describe("sending", () => {
  test("[CLIENT-6] a message sent offline is kept, stored, and goes out once under one id", async () => {
    const { owner, peer } = await connected();
    owner.startTurn();
    await peer.settle();
    peer.cut();
    const id = peer.handle.send({ text: "offline" });
    await turns();
    expect(peer.handle.snapshot().pending).toMatchObject([{ id, state: "waiting", text: "offline" }]);
    expect(peer.store.entries.get(id)).toMatchObject({ text: "offline" });
    await peer.settle();
    expect(owner.queue).toMatchObject([{ id, data: { text: "offline" } }]);
    expect(peer.handle.snapshot()).toMatchObject({ pending: [], queue: [{ id }] });
    expect(peer.store.entries.get(id)?.sealedAt).toBe(peer.clock.time);
  });
  test("[CLIENT-6] an answer lost with the connection: sent again, taken once", async () => {
    const { owner, peer } = await connected();
    const id = peer.handle.send({ text: "once" });
    expect(peer.handle.snapshot().pending[0]?.state).toBe("sent");
    peer.carryCommand();
    peer.cut();
    expect(peer.handle.snapshot().pending[0]?.state).toBe("waiting");
    await peer.settle();
    expect(types(peer).filter((type) => type === "send")).toHaveLength(2);
    expect(ids(owner.rows)).toEqual([id]);
    expect(ids(peer.handle.snapshot().rows)).toEqual([id]);
  });
  test("[CLIENT-6] after a reload the outbox is sent by itself, also for a tab that nobody opened", async () => {
    const owner = new Owner();
    const store = watchedStore();
    const before = new Peer("A", owner, { store });
    const id = before.handle.send({ text: "typed, then reloaded" });
    await turns();
    before.client.close();
    const after = new Peer("B", owner, { store });
    after.handle.close();
    await turns();
    await after.settle();
    expect(ids(owner.rows)).toEqual([id]);
    expect(store.entries.get(id)).toMatchObject({ seq: 1, logId: "log-1" });
    expect(after.commands.at(-1)).toEqual({ type: "unsub", tab: theTab });
  });
  test("[CLIENT-7] a refused message stays on screen with the reason, and goes out when the person says so", async () => {
    const { owner, peer } = await connected();
    peer.intercept = (command, reply) => {
      if (command.type !== "send") return false;
      reply({ type: "err", re: command.re, code: "queue-full", message: "Too many wait.", hint: "Wait." });
      return true;
    };
    const id = peer.handle.send({ text: "too much" });
    await peer.settle();
    const refused = { id, state: "refused", error: { code: "queue-full", message: "Too many wait.", hint: "Wait." } };
    expect(peer.handle.snapshot().pending).toMatchObject([refused]);
    peer.cut();
    await peer.settle();
    expect(types(peer).filter((type) => type === "send")).toHaveLength(1);
    peer.intercept = () => false;
    peer.handle.resend(id);
    await peer.settle();
    expect(ids(owner.rows)).toEqual([id]);
    const second = peer.handle.send({ text: "x" });
    peer.handle.forget(second);
    expect(peer.handle.snapshot().pending).toEqual([]);
  });
  test("[CLIENT-8] a message of a restored-away log is offered again, not sent by itself", async () => {
    const { owner, peer } = await connected(3);
    const backup = owner.backup();
    const id = peer.handle.send({ text: "acknowledged, then rolled back" });
    await peer.settle();
    owner.restore(backup);
    peer.cut();
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ lost: [{ id }], pending: [], window: { hi: 3, tail: 3 } });
    expect(owner.tail).toBe(3);
    peer.handle.resend(id);
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ lost: [], window: { hi: 4 } });
    expect(owner.rows.at(-1)?.id).toBe(id);
  });
  test("[CLIENT-8] a message further up is looked for before it is called lost", async () => {
    const { owner, peer } = await connected(3);
    const id = peer.handle.send({ text: "stays" });
    await peer.settle();
    owner.sealMany(150);
    await peer.settle();
    const backup = owner.backup();
    owner.sealMany(5);
    await peer.settle();
    owner.restore(backup);
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ lost: [], window: { tail: 154, hi: 154 } });
    expect(peer.store.entries.has(id)).toBe(true);
  });
  test("[CLIENT-8] a page that was reloaded after the restore offers it as well, and looks it up first", async () => {
    for (const isThere of [false, true]) {
      const owner = new Owner();
      owner.sealMany(200);
      const store = watchedStore();
      const before = new Peer("A", owner, { store });
      await before.settle();
      owner.startTurn();
      await before.settle();
      const backup = owner.backup();
      const id = before.handle.send({ text: "accepted, waits" });
      await before.settle();
      expect(store.entries.get(id)).toMatchObject({ term: 1, logId: "log-1" });
      before.client.close();
      if (isThere) owner.consume();
      owner.sealMany(150);
      if (isThere) owner.restart();
      else owner.restore(backup);
      const after = new Peer("B", owner, { store });
      await after.settle();
      expect(ids(after.handle.snapshot().lost)).toEqual(isThere ? [] : [id]);
      if (isThere) expect(store.entries.get(id)).toMatchObject({ seq: 201, term: 2 });
    }
  });
  test("[CLIENT-8] one who reads far above is not offered a message that was consumed below meanwhile", async () => {
    const owner = new Owner();
    owner.sealMany(900);
    const peer = new Peer("A", owner);
    await peer.settle();
    for (let i = 0; i < 5; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    owner.startTurn();
    await peer.settle();
    const id = peer.handle.send({ text: "waits" });
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ window: { attached: false }, queue: [{ id }] });
    peer.cut();
    owner.consume();
    owner.sealMany(50);
    owner.restart();
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ window: { attached: false }, queue: [], lost: [] });
    expect(peer.store.entries.get(id)).toMatchObject({ seq: 901, term: owner.term });
  });
  test("[CLIENT-8] a message that a page brought as a row is not offered again after a restart", async () => {
    const owner = new Owner();
    owner.sealMany(900);
    const peer = new Peer("A", owner);
    await peer.settle();
    for (let i = 0; i < 4; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    owner.startTurn();
    await peer.settle();
    const id = peer.handle.send({ text: "waits" });
    await peer.settle();
    peer.cut();
    owner.consume();
    for (let i = 0; i < 2; i++) {
      void peer.handle.pageNewer();
      await turns();
      peer.answerPage();
      await turns();
    }
    expect(peer.handle.snapshot().rows.at(-1)).toMatchObject({ id });
    owner.restart();
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ window: { attached: true, hi: 901 }, lost: [] });
  });
  test("[CLIENT-8] of two messages that are looked up, one that a page brings meanwhile is not offered again", async () => {
    const owner = new Owner();
    owner.sealMany(900);
    const peer = new Peer("A", owner);
    await peer.settle();
    for (let i = 0; i < 4; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    owner.startTurn();
    await peer.settle();
    for (const text of ["one", "two"]) peer.handle.send({ text });
    await peer.settle();
    peer.cut();
    owner.consume();
    owner.consume();
    owner.restart();
    peer.client.probe();
    peer.accept();
    for (let i = 0; i < 10; i++) {
      peer.carryCommand();
      peer.carryFrame();
    }
    // The page comes before what was asked first.
    void peer.handle.toEnd();
    await turns();
    expect(peer.pages).toHaveLength(2);
    peer.pages.reverse();
    peer.answerPage();
    await turns();
    expect(peer.handle.snapshot().window).toMatchObject({ attached: true, hi: 902 });
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ queue: [], lost: [] });
  });
  test("[CLIENT-8] after a day an accepted message is forgotten", async () => {
    const { peer } = await connected();
    const id = peer.handle.send({ text: "old" });
    await peer.settle();
    peer.clock.time += keptMs;
    peer.handle.send({ text: "new" });
    await peer.settle();
    expect(peer.store.entries.has(id)).toBe(false);
  });
});

describe("commands", () => {
  test("[CLIENT-9] each is answered once: null, the server's error, or that the connection was lost", async () => {
    const { owner, peer } = await connected();
    owner.startTurn();
    const id = peer.handle.send({ text: "waits" });
    await peer.settle();
    const edited = peer.handle.edit(id, "edited");
    await peer.settle();
    expect(await edited).toBeNull();
    expect(peer.handle.snapshot().queue).toMatchObject([{ version: 2, data: { text: "edited" } }]);
    peer.intercept = (command, reply) => {
      if (!("re" in command)) return false;
      reply({ type: "err", re: command.re, code: "stale-version", message: "It has changed." });
      return true;
    };
    const held = peer.handle.hold(id);
    await peer.settle();
    expect(await held).toEqual({ code: "stale-version", message: "It has changed." });
    const cut = peer.handle.stop();
    peer.cut();
    expect(await cut).toMatchObject({ code: "log-unavailable", message: expect.stringContaining("lost before") });
    expect(await peer.handle.stop()).toMatchObject({
      code: "log-unavailable",
      message: expect.stringContaining("nothing was changed"),
    });
  });
  test("[CLIENT-9] they name what is shown: the version of a message, the turn to stop", async () => {
    const { owner, peer } = await connected();
    owner.startTurn();
    const id = peer.handle.send({ text: "waits" });
    await peer.settle();
    owner.edit(id, "by somebody else");
    await peer.settle();
    const sent = peer.commands.length;
    void peer.handle.release(id);
    void peer.handle.move(id, null);
    void peer.handle.setDelivery(id, "queue");
    void peer.handle.setDelivery(id, "stop");
    void peer.handle.cancel(id);
    void peer.handle.stop("call-1");
    void peer.handle.answer(messageId("q", 1), { verdict: "deny", text: "no" });
    void peer.handle.answer(messageId("q", 2), { verdict: "project", rules: ["bash: npm test"] });
    expect(peer.commands.slice(sent).map(({ ...command }) => ({ ...command, re: 0 }))).toEqual([
      { type: "release", re: 0, tab: theTab, id, version: 2 },
      { type: "move", re: 0, tab: theTab, id, version: 2, before: null },
      { type: "edit", re: 0, tab: theTab, id, version: 2, text: "by somebody else", delivery: "queue" },
      {
        type: "edit",
        re: 0,
        tab: theTab,
        id,
        version: 2,
        text: "by somebody else",
        delivery: "stop",
        turnId: owner.status.turnId,
      },
      { type: "cancel", re: 0, tab: theTab, id },
      { type: "stop", re: 0, tab: theTab, turnId: owner.status.turnId, callId: "call-1" },
      { type: "answer", re: 0, tab: theTab, askId: "q-1", verdict: "deny", text: "no" },
      { type: "answer", re: 0, tab: theTab, askId: "q-2", verdict: "project", rules: ["bash: npm test"] },
    ]);
    expect(await peer.handle.edit(messageId("nobody", 1), "x")).toMatchObject({ code: "unknown-message" });
  });
  test("[CLIENT-108] with nothing to stop nothing is sent; with a message on its way, its turn is meant", async () => {
    const { peer } = await connected(2);
    const sent = peer.commands.length;
    expect(await peer.handle.stop()).toBeNull();
    expect(await peer.handle.stop("call-1")).toBeNull();
    expect(peer.commands).toHaveLength(sent);
    peer.handle.send({ text: "begins a turn" });
    void peer.handle.stop();
    expect(peer.commands.slice(sent).map((command) => command.type)).toEqual(["send", "stop"]);
  });
  test("[CLIENT-9] a message that stops names the turn that was shown when it was written, however late it is sent", async () => {
    const { owner, peer } = await connected();
    owner.startTurn();
    await peer.settle();
    const shown = owner.status.turnId;
    peer.cut();
    const id = peer.handle.send({ text: "stop that", delivery: "stop" });
    owner.startTurn();
    await peer.settle();
    const sent = peer.commands.findLast((command) => command.type === "send");
    expect(sent).toMatchObject({ type: "send", id, delivery: "stop", turnId: shown });
    expect(owner.status.turnId).not.toBe(shown);
  });
  test("[CLIENT-9] focus and what was seen are told, and told again after a reconnect", async () => {
    const { peer } = await connected(5);
    peer.handle.focus(true);
    peer.handle.focus(true);
    peer.handle.seen(4);
    peer.handle.seen(2);
    expect(peer.commands.slice(-2)).toEqual([
      { type: "focus", tab: theTab, focus: true },
      { type: "seen", tab: theTab, seq: 4 },
    ]);
    peer.cut();
    await peer.settle();
    expect(peer.commands.slice(-2)).toMatchObject([
      { type: "sub", focus: true },
      { type: "seen", seq: 4 },
    ]);
  });
});

describe("paging and the window", () => {
  test("[CLIENT-10] pages upwards to the first row, and holds at most the window", async () => {
    const { peer } = await connected(1000);
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 901, hi: 1000, attached: true, unread: 0 });
    const los: number[] = [];
    for (let i = 0; i < 11; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
      los.push(peer.handle.snapshot().window.lo);
      expect(peer.handle.snapshot().rows.length).toBeLessThanOrEqual(limits.windowRowsMax);
    }
    expect(los).toEqual([801, 701, 601, 501, 401, 301, 201, 101, 1, 1, 1]);
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 1, hi: 400, tail: 1000, attached: false, paging: null });
  });
  test("[CLIENT-11] detached, new rows only raise the tail and the unread count; the end is one act away", async () => {
    const { owner, peer } = await connected(600);
    for (let i = 0; i < 4; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    owner.sealMany(7);
    await peer.settle();
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 101, hi: 500, tail: 607, attached: false, unread: 7 });
    peer.cut();
    await peer.settle();
    expect(peer.commands.filter((command) => command.type === "sub").at(-1)).toMatchObject({
      have: { seq: 500 },
      want: 0,
    });
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 101, hi: 500, attached: false });
    void peer.handle.toEnd();
    await peer.settle();
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 508, hi: 607, attached: true, unread: 0 });
  });
  test("[CLIENT-11] paging down to the end attaches again, and live rows follow", async () => {
    const { owner, peer } = await connected(500);
    for (let i = 0; i < 4; i++) {
      void peer.handle.pageOlder();
      await peer.settle();
    }
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 1, hi: 400, attached: false });
    void peer.handle.pageNewer();
    await peer.settle();
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 101, hi: 500, attached: true });
    owner.sealMany(1);
    await peer.settle();
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 102, hi: 501 });
  });
  test("[CLIENT-12] a page of another term or log is not joined: it is read again after the head", async () => {
    const { owner, peer } = await connected(300);
    const old = owner.page({ before: 201, limit: 100 });
    void peer.handle.pageOlder();
    await turns();
    expect(peer.handle.snapshot().window.paging).toBe("older");
    owner.restart();
    peer.pages.shift()?.answer({ ...old, term: 99 });
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({ window: { lo: 101, hi: 300, paging: null } });
  });
  test("[CLIENT-12] paging ends when the head that it waits for cannot come: cut off, or refused", async () => {
    for (const end of ["cut", "refuse"] as const) {
      const { owner, peer } = await connected(300);
      void peer.handle.pageOlder();
      await turns();
      peer.intercept = (command, reply) => {
        if (command.type !== "sub") return false;
        reply({ type: "err", re: command.re, code: "unknown-tab", message: "It was purged." });
        return true;
      };
      peer.pages.shift()?.answer({ ...owner.page({ before: 201, limit: 100 }), term: 99 });
      await turns();
      if (end === "cut") peer.cut();
      for (let round = 0; round < 5; round++) {
        peer.carryCommand();
        peer.carryFrame();
        await turns();
        peer.pages.shift()?.answer({ ...owner.page({ before: 201, limit: 100 }), term: 99 });
        await turns();
      }
      expect(peer.handle.snapshot().window, end).toMatchObject({ lo: 201, hi: 300, paging: null });
    }
  });
  test("[CLIENT-12] a page that nobody answers ends the paging and changes nothing", async () => {
    const { peer } = await connected(300);
    peer.reachable = false;
    await peer.handle.pageOlder();
    expect(peer.handle.snapshot().window).toMatchObject({ lo: 201, paging: null });
  });
  test("[CLIENT-13] a long absence at the end of a log jumps to its last page; one who reads above stays there", async () => {
    const atEnd = await connected(150);
    atEnd.peer.cut();
    atEnd.owner.sealMany(300);
    await atEnd.peer.settle();
    expect(atEnd.peer.handle.snapshot().window).toMatchObject({ lo: 351, hi: 450, attached: true });
    const above = await connected(250);
    void above.peer.handle.pageOlder();
    await above.peer.settle();
    above.peer.cut();
    above.owner.sealMany(300);
    await above.peer.settle();
    expect(above.peer.handle.snapshot().window).toMatchObject({
      lo: 51,
      hi: 250,
      tail: 550,
      attached: false,
      unread: 300,
    });
  });
  test("[CLIENT-13] another log replaces everything but what waits here", async () => {
    const { owner, peer } = await connected(20);
    owner.clear();
    await peer.settle();
    expect(peer.handle.snapshot()).toMatchObject({
      logId: logId("log-2"),
      rows: [],
      window: { lo: 0, hi: 0, tail: 0 },
    });
  });
});

describe("listening and letting go", () => {
  test("[CLIENT-14] listeners hear once of all that changed in one go, and not after they left", async () => {
    const { owner, peer } = await connected();
    let heard = 0;
    const stop = peer.handle.onChange(() => {
      heard += 1;
    });
    owner.startTurn();
    owner.openBlock();
    owner.sealMany(3);
    while ((peer.wire?.toClient.length ?? 0) > 0) peer.carryFrame();
    expect(heard).toBe(0);
    await turns();
    expect(heard).toBe(1);
    stop();
    owner.endTurn();
    peer.carryFrame();
    await turns();
    expect(heard).toBe(1);
  });
  test("[CLIENT-14] a snapshot is the same until something changes, and its parts even longer", async () => {
    const { owner, peer } = await connected(3);
    const [first, second] = [owner.openBlock(), owner.openBlock()];
    owner.grow(first, "a");
    await peer.settle();
    const before = peer.handle.snapshot();
    expect(peer.handle.snapshot()).toBe(before);
    owner.grow(second, "b");
    peer.carryFrame();
    const after = peer.handle.snapshot();
    expect(after).not.toBe(before);
    for (const part of ["rows", "queue", "pending", "outputs", "status", "window", "lost"] as const)
      expect(after[part]).toBe(before[part]);
    expect(after.open[0]).toBe(before.open[0]);
    expect(after.open[1]).not.toBe(before.open[1]);
  });
  test("[CLIENT-15] a tab is let go with its last handle; closing twice is fine", async () => {
    const { owner, peer } = await connected();
    const second = peer.client.open(theTab);
    peer.handle.close();
    peer.handle.close();
    expect(types(peer)).not.toContain("unsub");
    second.close();
    expect(peer.commands.at(-1)).toEqual({ type: "unsub", tab: theTab });
    await peer.settle();
    owner.sealMany(1);
    expect(peer.wire?.toClient).toEqual([]);
  });
  test("[CLIENT-15] after close nothing is left: no socket, no timer, no late answer does harm", async () => {
    const { peer } = await connected(300);
    const stopping = peer.handle.cancel(messageId("A", 1));
    void peer.handle.pageOlder();
    const former = peer.wire;
    peer.client.close();
    peer.client.close();
    expect(await stopping).toMatchObject({ code: "log-unavailable" });
    expect(peer.client.connection()).toEqual({ kind: "closed" });
    expect([peer.wire, peer.clock.waiting]).toEqual([undefined, 0]);
    former?.handlers.closed(1006);
    peer.answerPage();
    await turns();
    peer.client.probe();
    expect([peer.wire, peer.clock.waiting]).toEqual([undefined, 0]);
  });
  test("[CLIENT-16] a faulty server that never completes a head is asked slower and slower", async () => {
    const { owner, peer } = await connected(5);
    const asked = (): number => types(peer).filter((type) => type === "sub").length;
    peer.intercept = (command, reply) => {
      if (command.type !== "sub") return false;
      reply({ ...owner.head(command), tail: owner.tail + 1 });
      return true;
    };
    const before = asked();
    peer.wire?.handlers.frame(
      JSON.stringify({ ...owner.head({ have: { log: owner.log, term: 1, seq: 5 } }), tail: 6 }),
    );
    const carryAll = (): void => {
      while ((peer.wire?.toServer.length ?? 0) + (peer.wire?.toClient.length ?? 0) > 0) {
        peer.carryCommand();
        peer.carryFrame();
      }
    };
    carryAll();
    const atOnce = asked() - before;
    expect(atOnce).toBeLessThanOrEqual(3);
    for (let second = 0; second < 10; second++) {
      peer.clock.advance(1000);
      carryAll();
    }
    expect(asked() - before - atOnce).toBeLessThanOrEqual(10);
    peer.intercept = () => false;
    peer.clock.advance(1000);
    carryAll();
    expect(peer.handle.snapshot().window).toMatchObject({ hi: 5, tail: 5 });
  });
});

describe("the list of tabs", () => {
  test("[CLIENT-17] is unknown at first, then what the server says", async () => {
    const peer = new Peer("A", new Owner());
    expect(peer.client.tabs()).toBeUndefined();
    let heard = 0;
    peer.client.onChange(() => {
      heard += 1;
    });
    await peer.settle();
    expect(peer.client.tabs()).toEqual([]);
    expect(heard).toBeGreaterThan(0);
    const tabs: readonly Pick<TabRecord, "id" | "title">[] = [{ id: theTab, title: "one" }];
    peer.wire?.handlers.frame(JSON.stringify({ type: "workspace", boot: "boot", n: 2, full: false, tabs, purged: [] }));
    expect(peer.client.tabs()).toEqual(tabs);
  });
});
