import { limits } from "@varve/protocol";
import { createFakeClock } from "@varve/sim";
import { expect, test } from "vitest";
import { openHouse } from "./testing/house.ts";
import { openedSocket } from "./testing/socket.ts";

const count = 200;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("[WS-17] H16: two hundred clients that are gone without a word leave nothing behind after three heartbeats", async () => {
  const clock = createFakeClock();
  await using house = await openHouse({ clock });
  const { host } = await house.listen();
  const { id } = await house.tab();
  const sockets = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const socket = await openedSocket(`ws://${host}/api/ws`, { authorization: `Bearer ${house.parts.token}` });
      socket.send({ type: "hello", v: [1], client: `client-${n}` });
      socket.send({ type: "sub", re: 1, tab: id, have: null, focus: true });
      await socket.next((frame) => frame.type === "head");
      return socket;
    }),
  );
  expect(house.parts.workspace.counters()).toMatchObject({ subscriptions: count });
  // As a machine that was unplugged: nothing is read, answered or closed any more.
  for (const { raw } of sockets) raw.pause();
  await clock.advance(3 * limits.pingIntervalMs);
  expect(house.parts.workspace.counters()).toMatchObject({ subscriptions: 0 });
  while (house.parts.doors.connections().sockets !== 0) await nextTurn();
  for (const { raw } of sockets) raw.terminate();
});
