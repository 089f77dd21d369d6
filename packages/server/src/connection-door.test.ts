import { type Frame, limits } from "@varve/protocol";
import { createFakeClock, type FakeClock } from "@varve/sim";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Visitor } from "./auth/gate.ts";
import { ConnectionDoor, type DoorPorts } from "./connection-door.ts";
import { parseFrame } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";

let house: House;
let tab: string;
beforeAll(async () => {
  house = await openHouse({
    script: [{ reply: { blocks: [{ type: "text", text: "a b" }], holdAfter: 0 }, times: "always" }],
  });
  tab = (await house.tab()).id;
});
afterAll(() => house[Symbol.asyncDispose]());

interface Rig {
  readonly door: ConnectionDoor;
  readonly clock: FakeClock;
  readonly frames: Frame[];
  readonly ends: { readonly code: number; readonly reason: string }[];
  readonly broken: unknown[];
  say(command: unknown): Promise<void>;
  setBuffered(bytes: number): void;
}

function rig(visitor: Visitor = { kind: "token" }, ports: Partial<DoorPorts> = {}): Rig {
  const clock = createFakeClock();
  const [frames, ends, broken]: [Frame[], Rig["ends"], unknown[]] = [[], [], []];
  let buffered = 0;
  const socket = {
    send: (text: string) => void frames.push(parseFrame(text)),
    buffered: () => buffered,
    close: (code: number, reason: string) => void ends.push({ code, reason }),
  };
  const { workspace } = house.parts;
  const door = new ConnectionDoor(socket, visitor, {
    workspace,
    devices: house.parts.gate.devices,
    clock,
    build: "b",
    boot: "boot",
    broke: (error) => broken.push(error),
    ...ports,
  });
  const say = (command: unknown) => door.received(typeof command === "string" ? command : JSON.stringify(command));
  const setBuffered = (bytes: number): void => {
    buffered = bytes;
  };
  return { door, clock, frames, ends, broken, say, setBuffered };
}
const hello = { type: "hello", v: [1], client: "client-1" };
async function greeted(...args: Parameters<typeof rig>): Promise<Rig> {
  const made = rig(...args);
  await made.say(hello);
  return made;
}
const typesOf = ({ frames }: Rig): readonly string[] => frames.map(({ type }) => type);

describe("the beginning", () => {
  test("[WS-1] hello is answered by hello, then by pings", async () => {
    const { frames, clock, door } = await greeted();
    expect(frames).toEqual([
      { type: "hello", v: 1, build: "b", boot: "boot", me: { client: "client-1" } },
      { type: "ping", ts: clock.now() },
    ]);
    door.closed();
    expect(clock.pending()).toBe(0);
  });

  test("[WS-1] any other command first ends the connection, and so does silence", async () => {
    const early = rig();
    await early.say({ type: "sub-workspace", re: 1 });
    expect(early.ends).toEqual([{ code: 4400, reason: "hello first" }]);
    expect(typesOf(early)).toEqual(["bye"]);
    const silent = rig();
    await silent.clock.advance(9_999);
    expect(silent.ends).toEqual([]);
    await silent.clock.advance(1);
    expect(silent.ends).toEqual([{ code: 4408, reason: "silent" }]);
    expect(silent.clock.pending()).toBe(0);
  });

  test.each([
    [[1], true],
    [[7, 1], true],
    [[2], false],
    [[], false],
  ])("[WS-2] of the offered versions %j one is spoken: %s", async (v, spoken) => {
    const made = rig();
    await made.say({ ...hello, v });
    if (spoken) expect(made.frames[0]).toMatchObject({ type: "hello", v: 1 });
    else {
      expect(typesOf(made)).toEqual(["err", "bye"]);
      expect(made.frames[0]).toMatchObject({ code: "version-unsupported" });
      expect(made.ends).toEqual([{ code: 4426, reason: "version-unsupported" }]);
    }
    made.door.closed();
  });

  test("[WS-3] a page proves its cookie with its second key, once, in its hello", async () => {
    const { devices } = house.parts.gate;
    const added = await devices.add("a page");
    if ("kind" in added) throw new Error(added.message);
    const unproven = { kind: "unproven", device: added.device } as const;
    for (const key of [undefined, "", "wrong", added.cookie]) {
      const made = rig(unproven);
      await made.say({ ...hello, ...(key !== undefined && { key }) });
      expect(made.ends).toEqual([{ code: 4401, reason: "second-key-missing" }]);
      expect(typesOf(made)).toEqual(["err", "bye"]);
    }
    const good = rig(unproven);
    await good.say({ ...hello, key: added.key });
    expect(typesOf(good)).toEqual(["hello", "ping"]);
    expect(good.door.isOf(added.device.id)).toBe(true);
    good.door.closed();
  });
});

describe("commands", () => {
  test.each<[unknown, string, number | undefined]>([
    ["{", "bad-json", undefined],
    ["", "bad-json", undefined],
    ["null", "bad-request", undefined],
    ["[]", "bad-request", undefined],
    [{ type: "nonsense", re: 4 }, "bad-request", 4],
    [{ type: "send", re: 5, tab: "a b", id: "x", text: "x" }, "bad-request", 5],
    [{ type: "send", re: 6 }, "bad-request", 6],
    [{ type: "send", re: "six" }, "bad-request", undefined],
    [{ type: "sub", re: 7, tab: "none", have: null, focus: true }, "unknown-tab", 7],
    [{ type: "edit", re: 8, tab: "none", id: "x", version: 1, text: "x" }, "unknown-tab", 8],
    [{ type: "answer", re: 9, tab: "none", askId: "x", verdict: "once" }, "unknown-tab", 9],
    [`{"type":"pong","ts":${"9".repeat(400)}}`, "bad-request", undefined],
    ['{"type":"nonsense","re":1e400}', "bad-request", undefined],
  ])("[WS-4] %j is answered by err %s and the connection goes on", async (command, code, re) => {
    const made = await greeted();
    await made.say(command);
    expect(made.frames.at(-1)).toMatchObject({ type: "err", code });
    expect(Reflect.get(Object(made.frames.at(-1)), "re")).toBe(re);
    await made.say({ type: "sub-workspace", re: 99 });
    expect(made.frames.at(-1)).toMatchObject({ type: "workspace", re: 99, full: true });
    expect(made.ends).toEqual([]);
    made.door.closed();
  });

  test("[WS-4] an exception inside is told to the log, the client gets a sentence", async () => {
    const workspace = Object.create(house.parts.workspace, {
      send: {
        value: async () => {
          throw new Error("inner words");
        },
      },
    });
    const made = await greeted({ kind: "token" }, { workspace });
    await made.say({ type: "send", re: 1, tab, id: "x1", text: "x" });
    expect(made.frames.at(-1)).toMatchObject({ type: "err", re: 1, code: "internal" });
    expect(JSON.stringify(made.frames)).not.toContain("inner words");
    expect(String(made.broken)).toContain("inner words");
    made.door.closed();
  });

  test("[WS-5] commands of one tab are carried out in the order in which they came", async () => {
    const acts: string[] = [];
    const releases: (() => void)[] = [];
    const workspace = Object.create(house.parts.workspace, {
      send: {
        value: async (_tab: string, { id }: { id: string }) => {
          acts.push(`begin ${id}`);
          await new Promise<void>((resolve) => releases.push(resolve));
          acts.push(`end ${id}`);
          return { id, state: "queued" };
        },
      },
    });
    const made = await greeted({ kind: "token" }, { workspace });
    const send = (id: string, on = tab) => made.say({ type: "send", re: 1, tab: on, id, text: "x" });
    const all = [send("a"), send("b"), send("c", "elsewhere")];
    await made.clock.advance(0);
    expect(acts).toEqual(["begin a", "begin c"]);
    for (let n = 0; n < 3; n++) {
      releases.shift()?.();
      await made.clock.advance(0);
    }
    await Promise.all(all);
    expect(acts.filter((act) => !act.endsWith("c"))).toEqual(["begin a", "end a", "begin b", "end b"]);
    made.door.closed();
  });

  test("[WS-6] an ack never overtakes the op that it speaks of", async () => {
    const { id } = await house.tab();
    const made = await greeted();
    await made.say({ type: "sub", re: 1, tab: id, have: null, focus: true });
    await made.say({ type: "send", re: 2, tab: id, id: `${id}-1`, text: "go" });
    await made.say({ type: "send", re: 3, tab: id, id: `${id}-2`, text: "wait", delivery: "queue" });
    const told = made.frames.findIndex(
      (frame) => frame.type === "ops" && frame.ops.some((op) => op.op === "message-queued" && op.id === `${id}-2`),
    );
    const acked = made.frames.findIndex((frame) => frame.type === "ack" && frame.re === 3);
    expect(told).toBeGreaterThan(0);
    expect(acked).toBeGreaterThan(told);
    for (const [re, command] of [
      [4, { type: "edit", version: 1, text: "changed" }],
      [5, { type: "hold", version: 2 }],
      [6, { type: "move", version: 3, before: null }],
      [7, { type: "release", version: 4 }],
      [8, { type: "cancel" }],
    ] as const) {
      await made.say({ ...command, re, tab: id, id: `${id}-2` });
      expect(made.frames.at(-1), command.type).toMatchObject({ type: "ack", re });
    }
    await made.say({ type: "edit", re: 9, tab: id, id: `${id}-2`, version: 1, text: "late" });
    expect(made.frames.at(-1)).toMatchObject({ type: "err", re: 9, code: "unknown-message" });
    await made.say({ type: "stop", re: 10, tab: id });
    expect(made.frames.find((frame) => frame.type === "ack" && frame.re === 10)).toMatchObject({ state: "done" });
    made.door.closed();
  });

  test("[WS-7] many tabs share a connection, up to a limit; one that is left makes room", async () => {
    const made = await greeted({ kind: "token" }, { workspace: withoutHeads() });
    for (let n = 0; n < limits.subscriptionsMax; n++) {
      await made.say({ type: "sub", re: n, tab: `tab-${n}`, have: null, focus: false });
    }
    expect(typesOf(made)).not.toContain("err");
    const more = { type: "sub", re: 1_000, tab: "one-more", have: null, focus: true };
    await made.say(more);
    expect(made.frames.at(-1)).toMatchObject({ type: "err", re: 1_000, code: "bad-request" });
    await made.say({ ...more, tab: "tab-1" });
    await made.say({ type: "unsub", tab: "tab-0" });
    await made.say(more);
    expect(made.frames.filter(({ type }) => type === "err")).toHaveLength(1);
    made.door.closed();
    expect(opened).toBe(closed);
  });

  test("[WS-18] focus holds for a subscription that is still being made; the last word counts", async () => {
    const made = await greeted({ kind: "token" }, { workspace: withoutHeads() });
    const asked = made.say({ type: "sub", re: 1, tab: "slow", have: null, focus: false });
    await made.say({ type: "focus", tab: "slow", focus: true });
    await asked;
    await made.say({ type: "focus", tab: "slow", focus: false });
    expect(focused).toEqual([true, false]);
    made.door.closed();
  });

  test("[WS-7] a tab that was left while its head was read is not followed", async () => {
    const made = await greeted({ kind: "token" }, { workspace: withoutHeads() });
    const asked = made.say({ type: "sub", re: 1, tab: "slow", have: null, focus: true });
    await made.say({ type: "unsub", tab: "slow" });
    await asked;
    expect(opened).toBe(closed);
    made.door.closed();
  });
});

let opened = 0;
let closed = 0;
let focused: boolean[] = [];
/** Only subscribing, counted: what a limit is about needs no hundred tabs. */
function withoutHeads(): DoorPorts["workspace"] {
  opened = closed = 0;
  focused = [];
  const subscribe = async () => {
    opened++;
    const focus = (on: boolean): void => void focused.push(on);
    return { focus, flush: () => undefined, drained: () => undefined, close: () => void closed++ };
  };
  return Object.create(house.parts.workspace, { subscribe: { value: subscribe } });
}

describe("the end", () => {
  test("[WS-8] a client that says nothing for forty seconds is closed; any word keeps it", async () => {
    const made = await greeted();
    for (let n = 0; n < 4; n++) {
      await made.clock.advance(30_000);
      await made.say({ type: "pong", ts: 1 });
    }
    expect(made.ends).toEqual([]);
    expect(made.frames.filter(({ type }) => type === "ping").length).toBeGreaterThanOrEqual(8);
    await made.clock.advance(39_999);
    expect(made.ends).toEqual([]);
    await made.clock.advance(1);
    expect(made.ends).toEqual([{ code: 4408, reason: "silent" }]);
    expect(made.clock.pending()).toBe(0);
  });

  test("[WS-8] also when the clock of the machine is set back meanwhile", async () => {
    const made = await greeted();
    made.clock.jump(-3_600_000);
    await made.clock.advance(40_000 + limits.pingIntervalMs);
    expect(made.ends).toEqual([{ code: 4408, reason: "silent" }]);
  });

  test("[WS-9] a reader that takes nothing is closed as slow, to try again", async () => {
    const { id } = await house.tab();
    const made = await greeted();
    await made.say({ type: "sub", re: 1, tab: id, have: null, focus: true });
    made.setBuffered(limits.socketBufferCloseBytes + 1);
    await made.say({ type: "send", re: 2, tab: id, id: `${id}-slow`, text: "go" });
    expect(made.ends).toEqual([{ code: 1013, reason: "slow" }]);
    expect(made.frames.at(-1)).toMatchObject({ type: "bye", code: "slow", retryMs: 1_000 });
    const count = made.frames.length;
    await made.say({ type: "sub-workspace", re: 3 });
    expect(made.frames).toHaveLength(count);
  });
});
