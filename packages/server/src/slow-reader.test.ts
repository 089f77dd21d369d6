import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endsTurn, View } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { openedSocket, type Socket } from "./testing/socket.ts";

let house: House;
let url: string;
let tab: string;
beforeEach(async () => {
  house = await openHouse({ script: [{ blocks: [], holdAfter: 0 }, { blocks: [{ type: "text", text: "x" }] }] });
  url = `ws://${(await house.listen()).host}/api/ws`;
  tab = (await house.tab()).id;
});
afterEach(() => house[Symbol.asyncDispose]());

async function follower(): Promise<{ readonly socket: Socket; readonly view: View }> {
  const socket = await openedSocket(url, { authorization: `Bearer ${house.parts.token}` });
  const view = new View();
  let taken = 0;
  const take = (): void => {
    for (const frame of socket.frames.slice(taken)) view.take(frame);
    taken = socket.frames.length;
  };
  socket.raw.on("message", take);
  socket.send({ type: "hello", v: [1], client: "reader" });
  socket.send({ type: "sub", re: 1, tab, have: null, focus: true });
  await socket.next((frame) => frame.type === "head");
  return { socket, view };
}
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("readers of a stream", () => {
  test("[WS-15] H16: one that stops reading costs little while megabytes flow, and ends where everybody else is", async () => {
    const [slow, normal] = [await follower(), await follower()];
    slow.socket.raw.pause();
    const gate = house.provider.gate();
    await house.call("POST", `/api/tabs/${tab}/messages`, { id: "m", text: "much" });
    await gate.started;
    const before = process.memoryUsage().rss;
    const piece = "0123456789abcdef".repeat(4_096);
    for (let n = 0; n < 96; n++) {
      gate.emit(piece);
      await nextTurn();
    }
    const ended = normal.socket.next(endsTurn);
    gate.release();
    await ended;
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(200);
    slow.socket.raw.resume();
    await slow.socket.next((frame) => endsTurn(frame) || (frame.type === "head" && frame.status.lastSealed !== null));
    const { tail } = normal.view.state;
    while (slow.view.state.tail !== tail || slow.view.state.status.state !== "idle") await nextTurn();
    const rows = [...slow.view.state.sealed.values()].map(({ row }) => row);
    const same = [...normal.view.state.sealed.values()]
      .map(({ row }) => row)
      .filter(({ id }) => rows.some((row) => row.id === id));
    expect(rows.toSorted((a, b) => a.seq - b.seq)).toEqual(same.toSorted((a, b) => a.seq - b.seq));
    for (const { socket } of [slow, normal]) socket.close();
  });

  test("[WS-16] H16: two thousand deltas of ten characters are at most 450 kB of frames, each little more than its text", async () => {
    const { socket } = await follower();
    const gate = house.provider.gate();
    await house.call("POST", `/api/tabs/${tab}/messages`, { id: "m", text: "many" });
    await gate.started;
    const skip = socket.frames.length;
    const ended = socket.next(endsTurn);
    for (let n = 0; n < 2_000; n++) {
      gate.emit(`${String(n).padStart(9, "0")} `);
      if (n % 10 === 0) await nextTurn();
    }
    gate.release();
    await ended;
    const deltas = socket.frames
      .slice(skip)
      .filter((frame) => frame.type === "ops" && frame.ops.every(({ op }) => op === "chunk-delta"));
    expect(deltas.length).toBeGreaterThan(0);
    let bytes = 0;
    for (const frame of socket.frames.slice(skip)) bytes += JSON.stringify(frame).length;
    expect(bytes).toBeLessThanOrEqual(450_000);
    for (const frame of deltas) {
      const text = frame.type === "ops" ? frame.ops.map((op) => (op.op === "chunk-delta" ? op.text : "")).join("") : "";
      expect(JSON.stringify(frame).length - JSON.stringify(text).length).toBeLessThanOrEqual(300);
    }
    socket.close();
  });
});
