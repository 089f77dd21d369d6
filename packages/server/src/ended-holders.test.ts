/** What is open when the time of its device or token runs out. */
import { memoryLog } from "@varve/log";
import { type Frame, isFault, limits } from "@varve/protocol";
import { createFakeClock, createPrng } from "@varve/sim";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiTokens } from "./auth/api-tokens.ts";
import { Devices, deviceLifeMs } from "./auth/devices.ts";
import type { Visitor } from "./auth/gate.ts";
import { stillHolds } from "./auth/gate.ts";
import { ConnectionDoor } from "./connection-door.ts";
import { openSseDoor } from "./sse-door.ts";
import { parseFrame } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { Stream } from "./testing/stream.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const dayMs = 24 * 3_600_000;

/** A device and a token for a day, at a clock of their own. */
async function keepers() {
  const clock = createFakeClock();
  const prng = createPrng(9);
  const ports = { log: memoryLog(), clock, random: (into: Uint8Array<ArrayBuffer>) => prng.fill(into) };
  const [devices, tokens] = await Promise.all([Devices.load(ports), ApiTokens.load(ports)]);
  const [device, token] = [await devices.add("a page"), await tokens.add("ci", 1)];
  if (isFault(device) || isFault(token)) throw new Error("neither can fail in memory");
  const visitors: Readonly<Record<string, Visitor>> = {
    device: { kind: "device", device: device.device },
    token: { kind: "program", token: token.token },
  };
  return { clock, devices, tokens, visitors, key: device.key };
}
type Keepers = Awaited<ReturnType<typeof keepers>>;

async function openDoor({ clock, devices, tokens }: Keepers, visitor: Visitor, key?: string) {
  const frames: Frame[] = [];
  const ends: number[] = [];
  const door = new ConnectionDoor(
    { send: (text) => void frames.push(parseFrame(text)), buffered: () => 0, close: (code) => void ends.push(code) },
    visitor,
    {
      ...{ devices, tokens, clock, build: "b", boot: "boot", workspace: house.parts.workspace },
      broke: (error) => {
        throw error;
      },
    },
  );
  await door.received(JSON.stringify({ type: "hello", v: [1], client: "c", ...(key !== undefined && { key }) }));
  /** That much later, and the client has just answered. */
  const alive = async (ms: number): Promise<void> => {
    clock.jump(ms);
    await door.received('{"type":"pong","ts":1}');
  };
  return { door, frames, ends, alive };
}

describe("a socket", () => {
  test("[AUTH-33] of a token ends within a ping interval of the token's end, whether it speaks or not", async () => {
    for (const speaks of [true, false]) {
      const own = await keepers();
      const { ends, alive, frames, door } = await openDoor(own, own.visitors.token ?? { kind: "nobody" });
      await alive(dayMs - 1_000);
      expect(ends).toEqual([]);
      own.clock.jump(1_000);
      if (speaks) await door.received('{"type":"sub-workspace","re":1}');
      else await own.clock.advance(limits.pingIntervalMs);
      expect(ends).toEqual([4401]);
      expect(frames.at(-1)).toMatchObject({ type: "bye", code: "unauthorized" });
      expect(frames.some(({ type }) => type === "workspace")).toBe(false);
      expect(own.clock.pending()).toBe(0);
    }
  });

  test("[AUTH-33] [AUTH-13] of a device keeps it signed in for as long as it lives, and ends with it", async () => {
    const own = await keepers();
    const { ends, alive } = await openDoor(own, own.visitors.device ?? { kind: "nobody" });
    const id = own.devices.list()[0]?.id ?? "";
    for (let n = 0; n < 3; n++) {
      await alive(deviceLifeMs / 2);
      await own.clock.advance(limits.pingIntervalMs);
      expect(ends).toEqual([]);
    }
    expect(own.devices.list()).toHaveLength(1);
    // Another page signed it out, or fifty newer devices took its place: nobody told this socket.
    await own.devices.revoke(id);
    await own.clock.advance(limits.pingIntervalMs);
    expect(ends).toEqual([4401]);
  });

  test("[AUTH-13] that has not brought the second key is no use of its device", async () => {
    const own = await keepers();
    const [device] = own.devices.list();
    if (device === undefined) throw new Error("one was made");
    own.clock.jump(deviceLifeMs - 1_000);
    const thief = await openDoor(own, { kind: "unproven", device }, "wrong");
    expect(thief.ends).toEqual([4401]);
    own.clock.jump(1_000);
    expect(own.devices.list()).toEqual([]);
  });

  test("[AUTH-14] whose time runs out while its commands wait for one another carries none of them out", async () => {
    const own = await keepers();
    const { door, ends } = await openDoor(own, own.visitors.token ?? { kind: "nobody" });
    const tab = await house.tab();
    const sent = ["m1", "m2"].map((id, re) =>
      door.received(JSON.stringify({ type: "send", re, tab: tab.id, id, text: "x" })),
    );
    own.clock.jump(dayMs);
    await Promise.all(sent);
    expect(ends).toEqual([4401]);
    expect(await house.parts.workspace.page(tab.id, {})).toMatchObject({ tail: 0, chunks: [] });
  });

  test("[AUTH-14] whose device was signed out before its hello is not greeted", async () => {
    const own = await keepers();
    const [device] = own.devices.list();
    if (device === undefined) throw new Error("one was made");
    await own.devices.revoke(device.id);
    const late = await openDoor(own, { kind: "unproven", device }, own.key);
    expect(late.ends).toEqual([4401]);
    expect(late.frames.some(({ type }) => type === "hello")).toBe(false);
  });
});

describe("an event stream", () => {
  test.each(["device", "token"])("[AUTH-33] of a %s ends within a ping interval of its end", async (kind) => {
    const own = await keepers();
    const visitor = own.visitors[kind] ?? { kind: "nobody" };
    const { id } = await house.tab();
    const sse = openSseDoor({ workspace: house.parts.workspace, clock: own.clock });
    const holds = () => stillHolds(visitor, own);
    const asked = { tab: id, lastEventId: null, holder: null, stillHolds: holds, cut: () => undefined };
    const answer = await sse.open(asked);
    if (!(answer instanceof Response)) throw new Error(answer.message);
    const stream = new Stream(answer);
    await stream.next((frame) => frame.type === "head");
    await own.clock.advance(limits.pingIntervalMs);
    expect(sse.count()).toBe(1);
    own.clock.jump(deviceLifeMs + dayMs);
    await own.clock.advance(limits.pingIntervalMs);
    expect(await stream.next((frame) => frame.type === "bye")).toMatchObject({ code: "unauthorized" });
    expect(await stream.next(() => false)).toBeNull();
    expect(sse.count()).toBe(0);
    expect(own.clock.pending()).toBe(0);
  });
});
