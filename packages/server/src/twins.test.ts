import type { Frame } from "@varve/protocol";
import type { Gate, ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { View } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { openedSocket } from "./testing/socket.ts";
import { Stream } from "./testing/stream.ts";

/** A client that follows a tab over one of the two transports, and is told when it has seen something. */
interface Follower {
  readonly view: View;
  /** Resolves when a frame makes the condition true. */
  until(condition: (view: View) => boolean): Promise<void>;
  leave(): Promise<void> | void;
}
type Transport = (house: House, host: string, tab: string) => Promise<Follower>;

function followerOf(leave: Follower["leave"]): Follower & { take(frame: Frame): void } {
  const view = new View();
  const waiting = new Set<() => void>();
  return {
    view,
    leave,
    take(frame) {
      view.take(frame);
      for (const look of waiting) look();
    },
    until: (condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!condition(view)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

const overSocket: Transport = async (house, host, tab) => {
  const socket = await openedSocket(`ws://${host}/api/ws`, { authorization: `Bearer ${house.parts.token}` });
  const follower = followerOf(() => socket.close());
  socket.raw.on("message", () => {
    const frame = socket.frames.at(-1);
    if (frame !== undefined) follower.take(frame);
  });
  socket.send({ type: "hello", v: [1], client: "twin" });
  socket.send({ type: "sub", re: 1, tab, have: null, focus: true });
  return follower;
};

const overEvents: Transport = async (house, host, tab) => {
  const headers = { authorization: `Bearer ${house.parts.token}` };
  const stream = new Stream(await fetch(`http://${host}/api/tabs/${tab}/events`, { headers }));
  const follower = followerOf(() => stream.close());
  const read = async (): Promise<void> => {
    for (let seen = 0; await stream.read(); seen = stream.frames.length) {
      for (const frame of stream.frames.slice(seen)) follower.take(frame);
    }
  };
  // Leaving cancels the read; what was read until then is what counts.
  void read().catch(() => undefined);
  return follower;
};

const kindsOf = (view: View): readonly string[] =>
  [...view.state.sealed.values()].flatMap(({ row }) => (row.type === "system" ? [row.data.kind] : []));
const ends = (count: number) => (view: View) => kindsOf(view).filter((kind) => kind === "turn-end").length === count;
const openText = (view: View): string => [...view.state.open.values()].map(({ text }) => text).join("");

const words = "One word after another, with a 😀 and an é in between, and then some more of them.";
const script: readonly ScriptItem[] = [
  { blocks: [{ type: "text", text: words }], chunkSize: 3, holdAfter: 0 },
  { blocks: [{ type: "text", text: "second" }], holdAfter: 0 },
  { blocks: [{ type: "text", text: "third" }] },
];

interface Scene {
  readonly house: House;
  readonly tab: string;
  readonly gate: Gate;
  readonly followers: readonly Follower[];
  join(transport: Transport): Promise<Follower>;
  all(condition: (view: View) => boolean): Promise<void>;
}

async function play(scene: Scene, late: Transport): Promise<void> {
  const { house, tab, gate, all } = scene;
  const send = (id: string, delivery: string) =>
    house.call("POST", `/api/tabs/${tab}/messages`, { id: `${tab}-${id}`, text: id, delivery });
  await send("m1", "steer");
  await gate.started;
  await gate.step(4);
  await all((view) => openText(view).length >= 12);
  await scene.join(late);
  await all((view) => openText(view).length >= 12);
  await send("m2", "queue");
  await send("m3", "queue");
  await house.call("PATCH", `/api/tabs/${tab}/queue/${tab}-m3`, { version: 1, text: "m3 changed", state: "held" });
  await all((view) => [...view.state.queue.values()].some(({ message }) => message.state === "held"));
  await gate.step(3);
  const second = house.provider.gate();
  gate.release();
  await second.started;
  await all(ends(1));
  await house.call("POST", `/api/tabs/${tab}/stop`);
  await all(ends(2));
  await house.call("PATCH", `/api/tabs/${tab}/queue/${tab}-m3`, { version: 2, state: "queued" });
  await all(ends(3));
  await all((view) => view.state.status.state === "idle");
}

describe.each([
  ["a socket", overSocket],
  ["an event stream", overEvents],
] as const)("the same scenario over %s", (_name, transport) => {
  test.each([
    ["a socket", overSocket],
    ["an event stream", overEvents],
  ] as const)(
    "[SSE-6] one client from the start and one over %s from the middle end alike, to the character",
    async (_late, late) => {
      await using house = await openHouse({ script });
      const { host } = await house.listen();
      const { id: tab } = await house.tab();
      const followers: Follower[] = [];
      const join = async (way: Transport): Promise<Follower> => {
        const follower = await way(house, host, tab);
        followers.push(follower);
        return follower;
      };
      const all = async (condition: (view: View) => boolean): Promise<void> => {
        await Promise.all(followers.map((follower) => follower.until(condition)));
      };
      await join(transport);
      await play({ house, tab, gate: house.provider.gate(), followers, join, all }, late);
      const [first, second] = followers.map(({ view }) => view.shown());
      expect(first).toEqual(second);
      const page = await house.call("GET", `/api/tabs/${tab}/chunks?limit=500`);
      expect(first).toMatchObject({ rows: Reflect.get(Object(page.json), "chunks"), open: [], queue: [] });
      expect(JSON.stringify(first)).toContain(words);
      expect(JSON.stringify(first)).toContain("m3 changed");
      for (const follower of followers) await follower.leave();
    },
  );
});
