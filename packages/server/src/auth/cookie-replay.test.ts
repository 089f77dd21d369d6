/**
 * Browsers send a page's cookie to every server on its host, whatever the port. So a second one, such as an agent starts
 * for what it builds, hears it: what it can do with it is nothing.
 */
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller, Request } from "../testing/call.ts";
import { type House, openHouse } from "../testing/house.ts";
import { openedSocket, openSocket } from "../testing/socket.ts";

let house: House;
let caller: Caller;
/** As the second server heard it. */
let cookie: string;
let blob: string;
let tab: string;
let routes: readonly Request[];

beforeAll(async () => {
  house = await openHouse();
  caller = await house.listen();
  const device = await house.device(caller);
  cookie = await heardBySecondServer(device.cookie);
  tab = (await house.tab()).id;
  const bytes = Buffer.from("a file");
  const headers = { authorization: `Bearer ${house.parts.token}`, "content-type": "text/plain" };
  const stored = await caller({ method: "POST", path: "/api/blobs", headers, body: bytes });
  blob = String(Reflect.get(Object(stored.json), "blob"));
  routes = await allRoutes();
});
afterAll(() => house[Symbol.asyncDispose]());

/** What a browser does: the cookie has no port, so every port of its host is sent it. */
async function heardBySecondServer(sent: string): Promise<string> {
  let heard = "";
  const second = createServer((request, response) => {
    heard = request.headers.cookie ?? "";
    response.end();
  });
  await new Promise<void>((resolve) => second.listen(0, "127.0.0.1", resolve));
  const address = second.address();
  if (typeof address !== "object" || address === null) throw new Error("a listening server has an address");
  await fetch(`http://127.0.0.1:${address.port}/`, { headers: { cookie: sent } });
  await new Promise((resolve) => second.close(resolve));
  return heard;
}

/** Every route of the server's own document, with ids that are there. */
async function allRoutes(): Promise<readonly Request[]> {
  const { json } = await house.call("GET", "/api/openapi.json");
  const paths = Object.entries(Object(Reflect.get(Object(json), "paths")));
  return paths.flatMap(([path, item]) =>
    Object.keys(Object(item)).map((method) => ({
      method: method.toUpperCase(),
      path: path
        .replace("{tab}", tab)
        .replace("{hash}", blob)
        .replace(/\{\w+\}/g, "1"),
    })),
  );
}
const open = ["/api/health", "/api/sign-in"];
const closed = () => routes.filter(({ path }) => !open.includes(path));

describe("the cookie alone", () => {
  test("[AUTH-37] is what the browser sent, and with its second key it would have been good", async () => {
    const { "x-varve-key": key } = await house.device(caller);
    expect(cookie).toMatch(/^varve-[0-9a-f]{12}=/);
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(closed().length).toBeGreaterThan(40);
    const classes = ["/blobs/", "/events", "/devices", "/tokens", "/links", "/credentials", "/settings", "/chunks"];
    for (const part of classes)
      expect(
        closed().some(({ path }) => path.includes(part)),
        part,
      ).toBe(true);
  });

  test.each([
    ["alone", () => ({})],
    ["with our Origin, as a program can write it", () => ({ origin: caller.origin })],
    ["with our Origin and a key of its own", () => ({ origin: caller.origin, "x-varve-key": "a".repeat(43) })],
    ["with an empty key", () => ({ origin: caller.origin, "x-varve-key": "" })],
    ["with the cookie as the key", () => ({ origin: caller.origin, "x-varve-key": cookie.split("=")[1] ?? "" })],
    ["as a token", () => ({ authorization: `Bearer ${cookie.split("=")[1]}` })],
    ["from the second server's page", () => ({ origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" })],
  ])("[AUTH-37] %s opens no route", async (_how, headers) => {
    for (const { method, path } of closed()) {
      const body = ["POST", "PATCH"].includes(method) ? { body: {} } : {};
      const answer = await caller({ method, path, headers: { cookie, ...headers() }, ...body });
      expect([401, 403], `${method} ${path}`).toContain(answer.status);
      expect(answer.text, `${method} ${path}`).not.toContain(house.project);
      expect(answer.text, `${method} ${path}`).not.toContain("a file");
    }
  });

  test("[AUTH-37] H18: replayed alone every reading route says 401", async () => {
    for (const { method, path } of closed()) {
      if (method !== "GET") continue;
      expect((await caller({ method, path, headers: { cookie } })).status, path).toBe(401);
    }
  });

  test("[AUTH-37] opens no socket: without our Origin no upgrade, with it no word before the second key", async () => {
    const url = `ws://${caller.host}/api/ws`;
    expect(await openSocket(url, { cookie })).toBe(403);
    expect(await openSocket(url, { cookie, origin: "http://127.0.0.1:1" })).toBe(403);
    for (const key of [undefined, "", "a".repeat(43), cookie.split("=")[1]]) {
      const socket = await openedSocket(url, { cookie, origin: caller.origin });
      socket.send({ type: "hello", v: [1], client: "thief", ...(key !== undefined && { key }) });
      expect((await socket.closed).code).toBe(4401);
      expect(JSON.stringify(socket.frames)).not.toContain(tab);
    }
    const impatient = await openedSocket(url, { cookie, origin: caller.origin });
    impatient.send({ type: "sub-workspace", re: 1 });
    expect((await impatient.closed).code).toBe(4400);
  });
});
