import { Agent } from "node:http";
import { limits } from "@varve/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Caller, socketCaller } from "./testing/call.ts";
import { type House, openHouse } from "./testing/house.ts";
import { openedSocket, openSocket, type Socket } from "./testing/socket.ts";

let house: House;
let caller: Caller;
let url: string;
beforeAll(async () => {
  house = await openHouse();
  caller = await house.listen();
  url = `ws://${caller.host}/api/ws`;
});
afterAll(() => house[Symbol.asyncDispose]());

const bearer = () => ({ authorization: `Bearer ${house.parts.token}` });
const hello = { type: "hello", v: [1], client: "socket-test" };
async function greeted(headers: Record<string, string> = bearer(), key?: string): Promise<Socket> {
  const socket = await openedSocket(url, headers);
  socket.send({ ...hello, ...(key !== undefined && { key }) });
  await socket.next((frame) => frame.type === "hello");
  return socket;
}

describe("the upgrade", () => {
  test("[AUTH-18] H18: Origin and Host of another site: 403, no socket", async () => {
    const evil = { host: "evil.example:80", origin: "http://evil.example" };
    expect(await openSocket(url, { ...bearer(), ...evil })).toBe(403);
    const device = await house.device(caller);
    expect(await openSocket(url, { cookie: device.cookie, ...evil })).toBe(403);
  });

  test("[AUTH-18] H18: own origin and no token: 401", async () => {
    expect(await openSocket(url, { origin: caller.origin })).toBe(401);
    expect(await openSocket(url, {})).toBe(403);
    expect(await openSocket(url, { authorization: "Bearer wrong" })).toBe(401);
    expect(await openSocket(`${url}?token=${house.parts.token}`, { origin: caller.origin })).toBe(401);
  });

  test("[AUTH-18] H18: a cookie needs the page's own Origin, a token's Origin is checked when it is there", async () => {
    const { cookie } = await house.device(caller);
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
      expect(await openSocket(url, { cookie, origin }), origin).toBe(403);
      expect(await openSocket(url, { ...bearer(), origin }), origin).toBe(403);
    }
    expect(await openSocket(url, { cookie })).toBe(403);
  });

  test("[AUTH-18] H18: a page comes in with cookie, origin and its second key in the hello; the cookie alone gets nothing", async () => {
    const { cookie, "x-varve-key": key } = await house.device(caller);
    const page = await greeted({ cookie, origin: caller.origin }, key);
    page.send({ type: "sub-workspace", re: 1 });
    await page.next((frame) => frame.type === "workspace");
    page.close();
    const thief = await openedSocket(url, { cookie, origin: caller.origin });
    thief.send(hello);
    expect(await thief.closed).toEqual({ code: 4401, reason: "second-key-missing" });
    expect(thief.frames.map(({ type }) => type)).toEqual(["err", "bye"]);
  });

  test("[AUTH-14] H18: signing a device out ends its sockets", async () => {
    const { cookie, "x-varve-key": key } = await house.device(caller);
    const page = await greeted({ cookie, origin: caller.origin }, key);
    const program = await greeted();
    const id = cookie.split("=")[1]?.split(".")[0];
    expect(await house.call("DELETE", `/api/devices/${id}`)).toMatchObject({ status: 200 });
    expect(await page.closed).toEqual({ code: 4401, reason: "unauthorized" });
    expect(await openSocket(url, { cookie, origin: caller.origin })).toBe(401);
    program.send({ type: "sub-workspace", re: 1 });
    await program.next((frame) => frame.type === "workspace");
    program.close();
  });

  test("[WS-10] H18: there is no socket at any other address", async () => {
    expect(await openSocket(`ws://${caller.host}/elsewhere`, bearer())).toBe(404);
    expect(await openSocket(`ws://${caller.host}/`, bearer())).toBe(404);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["to something else", { upgrade: "other" }],
    ["without a key", { upgrade: "websocket", "sec-websocket-version": "13" }],
    ["of a version that nobody speaks", { upgrade: "websocket", "sec-websocket-version": "99" }],
  ])("[WS-10] a handshake %s is refused in JSON, as everything is", async (_what, headers) => {
    const ask = { method: "GET", path: "/api/ws", headers: { ...bearer(), connection: "Upgrade", ...headers } };
    const reply = await socketCaller(Number(new URL(caller.origin).port), new Agent())(ask);
    expect(reply).toMatchObject({ status: 400, json: { error: { code: "bad-request" } } });
    expect(reply.headers["content-type"]).toContain("application/json");
  });
});

describe("the wire", () => {
  test("[WS-11] a frame that is too long, and one that is no text, end the connection and nothing else", async () => {
    const large = await greeted();
    large.send(`{"type":"send","text":"${"x".repeat(limits.commandBytesMax)}"}`);
    expect((await large.closed).code).toBe(1009);
    const binary = await greeted();
    binary.raw.send(new Uint8Array([1, 2, 3]));
    expect(await binary.closed).toEqual({ code: 4400, reason: "text only" });
    expect((await house.call("GET", "/api/health")).status).toBe(200);
  });

  test("[WS-12] of a client that floods, no more is taken in than is being worked on, and every command is answered in order", async () => {
    const socket = await greeted();
    const { id } = await house.tab();
    const count = 500;
    for (let re = 0; re < count; re++) socket.send({ type: "stop", re, tab: id });
    await socket.next((frame) => frame.type === "ack" && frame.re === count - 1);
    const answers = socket.frames.flatMap((frame) => (frame.type === "ack" ? [frame.re] : []));
    expect(answers).toEqual([...Array(count).keys()]);
    socket.close();
  });

  test("[WS-13] a connection that is gone leaves nothing behind", async () => {
    const { id } = await house.tab();
    const before = house.parts.workspace.counters().subscriptions ?? 0;
    const sockets = await Promise.all(Array.from({ length: 20 }, () => greeted()));
    for (const socket of sockets) {
      socket.send({ type: "sub", re: 1, tab: id, have: null, focus: true });
      await socket.next((frame) => frame.type === "head");
    }
    expect(house.parts.workspace.counters().subscriptions).toBe(before + 20);
    for (const socket of sockets) socket.raw.terminate();
    while (house.parts.doors.connections().sockets > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(house.parts.workspace.counters().subscriptions).toBe(before);
  });

  test("[WS-14] a server that ends says bye, to come back later", async () => {
    const own = await openHouse();
    const host = (await own.listen()).host;
    const socket = await openedSocket(`ws://${host}/api/ws`, { authorization: `Bearer ${own.parts.token}` });
    socket.send(hello);
    await socket.next((frame) => frame.type === "hello");
    await own[Symbol.asyncDispose]();
    expect(await socket.closed).toEqual({ code: 1013, reason: "shutting-down" });
    expect(socket.frames.at(-1)).toEqual({ type: "bye", code: "shutting-down", retryMs: 1_000 });
  });
});
