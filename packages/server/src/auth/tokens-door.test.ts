/** Named tokens at the real doors: what they open, what they do not, and how they end. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller, Reply } from "../testing/call.ts";
import { type House, openHouse } from "../testing/house.ts";
import { openedSocket, openSocket } from "../testing/socket.ts";
import { Stream } from "../testing/stream.ts";

let house: House;
let caller: Caller;
const lines: string[] = [];
beforeAll(async () => {
  house = await openHouse({
    script: [{ reply: { blocks: [{ type: "text", text: "done" }] }, times: "always" }],
    writeLog: (line) => lines.push(line),
  });
  caller = await house.listen();
});
afterAll(() => house[Symbol.asyncDispose]());

const field = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
const owner = () => ({ authorization: `Bearer ${house.parts.token}` });

async function made(name: string, days?: number) {
  const body = { name, ...(days !== undefined && { days }) };
  const answer = await caller({ method: "POST", path: "/api/tokens", headers: owner(), body });
  expect(answer.status, answer.text).toBe(201);
  const id = String(field(field(answer.json, "token"), "id"));
  return { id, headers: { authorization: `Bearer ${String(field(answer.json, "secret"))}` } };
}
const remove = (id: string): Promise<Reply> =>
  caller({ method: "DELETE", path: `/api/tokens/${id}`, headers: owner() });

describe("a named token", () => {
  test("[AUTH-30] is made, listed without its secret, and taken back, by the home's token and by a device", async () => {
    const device = { ...(await house.device(caller)), origin: caller.origin };
    for (const [n, headers] of [owner(), device].entries()) {
      const body = { name: `listed-${n}`, days: 30 };
      const answer = await caller({ method: "POST", path: "/api/tokens", headers, body });
      expect(answer).toMatchObject({ status: 201, json: { token: { name: `listed-${n}`, usedAt: null } } });
      const list = await caller({ method: "GET", path: "/api/tokens", headers });
      const secret = String(field(answer.json, "secret"));
      expect(list.text).toContain(`listed-${n}`);
      expect(list.text).toContain(secret.slice(-4));
      expect(list.text).not.toContain(secret.slice(6));
      const id = String(field(field(answer.json, "token"), "id"));
      expect(await caller({ method: "DELETE", path: `/api/tokens/${id}`, headers })).toMatchObject({ json: { id } });
      expect(await caller({ method: "DELETE", path: `/api/tokens/${id}`, headers })).toMatchObject({ status: 404 });
    }
  });

  test.each([
    [{}],
    [{ name: "" }],
    [{ name: "a b" }],
    [{ name: "a", days: 0 }],
    [{ name: "a", days: 1.5 }],
    [{ name: 1 }],
  ])("[AUTH-30] %j makes none", async (body) => {
    const before = await caller({ method: "GET", path: "/api/tokens", headers: owner() });
    const answer = await caller({ method: "POST", path: "/api/tokens", headers: owner(), body });
    expect(answer).toMatchObject({ status: 400, json: { error: { code: "bad-request" } } });
    expect((await caller({ method: "GET", path: "/api/tokens", headers: owner() })).text).toBe(before.text);
  });

  test("[AUTH-31] opens what the home's token opens, and its name stands beside what it sent", async () => {
    const { headers } = await made("robot");
    expect(await caller({ method: "GET", path: "/api/me", headers })).toMatchObject({ json: { token: "robot" } });
    const { id: tab } = await house.tab({ model: "openai-compatible/test-model" });
    const stream = new Stream(await fetch(`${caller.origin}/api/tabs/${tab}/events`, { headers }));
    const body = { id: "from-robot", text: "hello" };
    const sent = await caller({ method: "POST", path: `/api/tabs/${tab}/messages`, headers, body });
    expect(sent.status).toBe(202);
    await stream.next((frame) => JSON.stringify(frame).includes('"kind":"turn-end"'));
    const page = await caller({ method: "GET", path: `/api/tabs/${tab}/chunks`, headers });
    expect(page.text).toContain('"by":"token:robot"');
    await stream.close();
  });

  test("[AUTH-31] lets nobody in: links, devices and tokens are refused to it", async () => {
    const { id, headers } = await made("intern");
    const device = await house.device(caller);
    const deviceId = device.cookie.split("=")[1]?.split(".")[0];
    const refused = [
      { method: "POST", path: "/api/links", body: {} },
      { method: "GET", path: "/api/devices" },
      { method: "PATCH", path: `/api/devices/${deviceId}`, body: { label: "mine" } },
      { method: "DELETE", path: `/api/devices/${deviceId}` },
      { method: "GET", path: "/api/tokens" },
      { method: "POST", path: "/api/tokens", body: { name: "child" } },
      { method: "DELETE", path: `/api/tokens/${id}` },
    ];
    for (const asked of refused) {
      const answer = await caller({ ...asked, headers });
      expect(answer, `${asked.method} ${asked.path}`).toMatchObject({
        status: 403,
        json: { error: { code: "owner-only" } },
      });
      const without = await caller(asked);
      expect(without.status, `${asked.method} ${asked.path}`).toBe(401);
    }
    expect((await caller({ method: "GET", path: "/api/devices", headers: owner() })).text).toContain(deviceId);
  });

  test("[AUTH-31] opens a socket, with a foreign Origin none", async () => {
    const { headers } = await made("socket");
    const url = `ws://${caller.host}/api/ws`;
    expect(await openSocket(url, { ...headers, origin: "http://evil.example" })).toBe(403);
    expect(await openSocket(url, { authorization: `${headers.authorization}x` })).toBe(401);
    const socket = await openedSocket(url, headers);
    socket.send({ type: "hello", v: [1], client: "another" });
    expect(await socket.next((frame) => frame.type === "hello")).toMatchObject({ me: { client: "token:socket" } });
    socket.close();
  });

  test("[AUTH-32] that is taken back loses its requests, its sockets and its streams at once; those of others go on", async () => {
    const [gone, other] = [await made("gone"), await made("other")];
    const { id: tab } = await house.tab();
    const url = `ws://${caller.host}/api/ws`;
    const open = async (headers: Readonly<Record<string, string>>) => {
      const socket = await openedSocket(url, headers);
      socket.send({ type: "hello", v: [1], client: "c" });
      await socket.next((frame) => frame.type === "hello");
      const stream = new Stream(await fetch(`${caller.origin}/api/tabs/${tab}/events`, { headers }));
      await stream.next((frame) => frame.type === "head");
      return { socket, stream };
    };
    const [ended, living] = [await open(gone.headers), await open(other.headers)];
    expect(await remove(gone.id)).toMatchObject({ status: 200 });
    expect(await ended.socket.closed).toEqual({ code: 4401, reason: "unauthorized" });
    expect(await ended.stream.next((frame) => frame.type === "bye")).toMatchObject({ code: "unauthorized" });
    expect(await ended.stream.next(() => false)).toBeNull();
    expect(await caller({ method: "GET", path: "/api/me", headers: gone.headers })).toMatchObject({ status: 401 });
    expect(await openSocket(url, gone.headers)).toBe(401);
    living.socket.send({ type: "sub-workspace", re: 1 });
    await living.socket.next((frame) => frame.type === "workspace");
    living.socket.close();
    await living.stream.close();
  });

  test("[AUTH-32] [AUTH-14] a request whose body still comes when its token or device ends changes nothing", async () => {
    const token = await made("slow");
    const device = await house.device(caller);
    const cases = [
      { headers: token.headers, end: () => remove(token.id) },
      {
        headers: { ...device, origin: caller.origin },
        end: () => house.call("DELETE", `/api/devices/${device.cookie.split("=")[1]?.split(".")[0]}`),
      },
    ];
    for (const [n, { headers, end }] of cases.entries()) {
      const body = JSON.stringify({ id: `late-${n}`, cwd: house.project });
      const facts = { "content-type": "application/json", "content-length": String(body.length) };
      const [, port] = caller.host.split(":");
      const options = { host: "127.0.0.1", port, path: "/api/tabs", method: "POST" };
      const outgoing = request({ ...options, headers: { host: caller.host, ...facts, ...headers } });
      const status = new Promise<number>((resolve, reject) => {
        outgoing.on("response", (answer) => resolve(answer.resume().statusCode ?? 0));
        outgoing.on("error", reject);
      });
      const taken = new Promise<void>((resolve) => house.parts.doors.server.once("request", () => resolve()));
      outgoing.write(body.slice(0, 10));
      await taken;
      expect(await end()).toMatchObject({ status: 200 });
      outgoing.end(body.slice(10));
      expect(await status).toBe(401);
      expect(await house.call("GET", `/api/tabs/late-${n}`)).toMatchObject({ status: 404 });
    }
  });

  test("[AUTH-30] its secret is not in the server's log, not even as part of an address", async () => {
    const { headers } = await made("quiet");
    const secret = headers.authorization.slice(7);
    await caller({ method: "GET", path: `/api/tabs/${secret}`, headers });
    await caller({ method: "GET", path: `/api/tabs?token=${secret}`, headers });
    expect(lines.join("")).toMatch(/"\/api\/tabs\/\[(secret|token)\]"/);
    expect(lines.join("")).not.toContain(secret);
    expect(await caller({ method: "GET", path: `/api/tabs?token=${secret}` })).toMatchObject({ status: 401 });
  });
});
