/** What somebody tries who is not let in, or not any more. The real doors over a real socket. */
import { connect, type Socket as NetSocket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../testing/call.ts";
import { type House, openHouse } from "../testing/house.ts";
import { Stream } from "../testing/stream.ts";

let house: House;
let caller: Caller;
beforeAll(async () => {
  house = await openHouse();
  caller = await house.listen();
});
const open = new Set<NetSocket>();
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await house[Symbol.asyncDispose]();
});

/** Sends these bytes and never ends its own half; everything that comes until the server ends the other. */
function raw(text: string): Promise<string> {
  const [host = "", port = ""] = caller.host.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    open.add(socket);
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => {
      answer += part;
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
    socket.write(text);
  });
}
const upgrade = (host: string, more = "", target = "/api/ws"): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const bearerLine = (): string => `Authorization: Bearer ${house.parts.token}\r\n`;
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
/** Every answer that leaves the server, however little of a request it answers, carries these. */
const safe = (answer: string): void => {
  expect(answer).toMatch(
    /^content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox\r$/im,
  );
  expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im);
  expect(answer).toMatch(/^x-frame-options: DENY\r$/im);
  expect(answer).toMatch(/^referrer-policy: no-referrer\r$/im);
  expect(answer).toMatch(/^cross-origin-resource-policy: same-origin\r$/im);
  expect(answer).toMatch(/^cache-control: no-store\r$/im);
  expect(answer).toMatch(/\{"error":\{"code":"[a-z-]+","message":"[^"]+/);
};

describe("a device that was signed out", () => {
  test("[AUTH-14] its event streams end, those of others go on", async () => {
    const { id: tab } = await house.tab();
    const device = await house.device(caller);
    const read = async (headers: Readonly<Record<string, string>>): Promise<Stream> =>
      new Stream(await fetch(`${caller.origin}/api/tabs/${tab}/events`, { headers }));
    const page = await read(device);
    const program = await read({ authorization: `Bearer ${house.parts.token}` });
    await page.next((frame) => frame.type === "head");
    const id = device.cookie.split("=")[1]?.split(".")[0];
    expect(await house.call("DELETE", `/api/devices/${id}`)).toMatchObject({ status: 200 });
    expect(await page.next((frame) => frame.type === "bye")).toEqual({ type: "bye", code: "unauthorized", retryMs: 0 });
    expect(await page.next(() => false)).toBeNull();
    await house.call("PATCH", `/api/tabs/${tab}`, { title: "still read" });
    await program.next((frame) => frame.type === "head");
    expect(program.ended).toBe(false);
    await program.close();
  });
});

describe("an upgrade that is refused", () => {
  test("[AUTH-8] carries the same headers as every answer, and the connection is not kept", async () => {
    const closed = new Promise<void>((resolve) => {
      house.parts.doors.server.once("connection", (socket) => socket.once("close", () => resolve()));
    });
    const answer = await raw(upgrade("evil.example"));
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    safe(answer);
    await closed;
  });

  test.each([
    ["two Host headers", (own: string) => upgrade(own, `Host: evil.example\r\n${bearerLine()}`), [400, 403]],
    [
      "the second of them ours",
      (own: string) => upgrade("evil.example", `Host: ${own}\r\n${bearerLine()}`),
      [400, 403],
    ],
    [
      "two Origins, one of them ours",
      (own: string) => upgrade(own, `Origin: http://${own}\r\nOrigin: http://evil.example\r\n${bearerLine()}`),
      [403],
    ],
    ["Origin null", (own: string) => upgrade(own, `Origin: null\r\n${bearerLine()}`), [403]],
    [
      "Origin and Host of another site",
      () => upgrade("evil.example", `Origin: http://evil.example\r\n${bearerLine()}`),
      [403],
    ],
    [
      "a whole address of another server",
      (own: string) => upgrade(own, bearerLine(), "http://evil.example/api/ws"),
      [404],
    ],
    [
      "a token as a subprotocol",
      (own: string) => upgrade(own, `Origin: http://${own}\r\nSec-WebSocket-Protocol: ${house.parts.token}\r\n`),
      [401],
    ],
    [
      "a token as two subprotocols",
      (own: string) =>
        upgrade(own, `Origin: http://${own}\r\nSec-WebSocket-Protocol: bearer, ${house.parts.token}\r\n`),
      [401],
    ],
    [
      "a token in the address",
      (own: string) => upgrade(own, `Origin: http://${own}\r\n`, `/api/ws?token=${house.parts.token}`),
      [401],
    ],
    [
      "a token as a user",
      (own: string) => upgrade(`x:${house.parts.token}@${own}`, `Origin: http://${own}\r\n`),
      [400, 403],
    ],
    ["Basic instead of Bearer", (own: string) => upgrade(own, `Authorization: Basic ${house.parts.token}\r\n`), [401]],
    [
      "another protocol",
      (own: string) => `GET / HTTP/1.1\r\nHost: ${own}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
      [404],
    ],
  ])("[AUTH-18] H18: an upgrade with %s is refused", async (_how, made, statuses) => {
    const answer = await raw(made(caller.host));
    expect(statuses).toContain(statusOf(answer));
    expect(answer).not.toContain("101 Switching");
    expect(answer).not.toContain(house.parts.token);
    safe(answer);
  });

  test("[AUTH-18] a subprotocol that a caller offers is not told back", async () => {
    const asked = upgrade(caller.host, `${bearerLine()}Sec-WebSocket-Protocol: secret-of-somebody\r\n`);
    const [, port = ""] = caller.host.split(":");
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    open.add(socket);
    const answer = await new Promise<string>((resolve) => {
      socket.setEncoding("utf8").once("data", (text: string) => resolve(text));
      socket.write(asked);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).not.toContain("secret-of-somebody");
    socket.destroy();
  });
});

describe("what never becomes a request", () => {
  test.each([
    ["nonsense", () => "nonsense\r\n\r\n", 400],
    ["no Host in HTTP/1.1", () => "GET /api/tabs HTTP/1.1\r\n\r\n", 400],
    ["no Host in HTTP/1.0", () => "GET /api/tabs HTTP/1.0\r\n\r\n", 400],
    ["a header that is none", (own: string) => `GET / HTTP/1.1\r\nHost: ${own}\r\nnonsense\r\n\r\n`, 400],
    ["a space before the colon", (own: string) => `GET / HTTP/1.1\r\nHost : ${own}\r\n\r\n`, 400],
    [
      "two lengths",
      (own: string) => `POST /api/tabs HTTP/1.1\r\nHost: ${own}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      400,
    ],
    [
      "a length and chunks",
      (own: string) =>
        `POST /api/tabs HTTP/1.1\r\nHost: ${own}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["headers without end", (own: string) => `GET / HTTP/1.1\r\nHost: ${own}\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
    [
      "an expectation",
      (own: string) => `GET / HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\nExpect: wonders\r\n\r\n`,
      417,
    ],
    [
      "an address of another scheme",
      (own: string) => `GET ftp://${own}/ HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`,
      400,
    ],
    ["TRACE", (own: string) => `TRACE / HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`, 405],
  ])("[AUTH-39] %s is refused like everything else", async (_what, made, status) => {
    const answer = await raw(made(caller.host));
    expect(statusOf(answer)).toBe(status);
    safe(answer);
  });
});

/** Spellings of a Host header. The port is the server's own. */
const hosts: readonly (readonly [string, 200 | 403 | 400])[] = [
  ["127.0.0.1:PORT", 200],
  ["LOCALHOST:PORT", 200],
  ["localhost", 200],
  ["[::1]:PORT", 200],
  ["localhost.:PORT", 403],
  ["evil.example:PORT", 403],
  ["127.0.0.1.evil.example:PORT", 403],
  ["127.0.0.1:PORT.evil.example", 403],
  ["evil.example#127.0.0.1:PORT", 403],
  ["127.0.0.1@evil.example:PORT", 403],
  ["evil.example@127.0.0.1:PORT", 403],
  ["evil.example, 127.0.0.1:PORT", 403],
  ["2130706433:PORT", 403],
  ["0x7f.1:PORT", 403],
  ["127.1:PORT", 403],
  ["0:PORT", 403],
  ["0.0.0.0:PORT", 403],
  ["[::ffff:127.0.0.1]:PORT", 403],
  ["[0:0:0:0:0:0:0:1]:PORT", 403],
  ["[::1%25lo]:PORT", 403],
  ["127.0.0.1:PORT:1", 403],
  ["127.0.0.1:", 403],
  ["", 403],
  // What a name that was pointed at this machine looks like.
  ["rebind.evil.example:PORT", 403],
  ["127.0.0.1.nip.io:PORT", 403],
  ["7f000001.rebind.example:PORT", 403],
  ["localhost.evil.example:PORT", 403],
  ["localtest.me:PORT", 403],
  ["LOCALHOST.:PORT", 403],
  ["[::1].evil.example:PORT", 403],
  ["[::]:PORT", 403],
  ["localhost%00.evil.example:PORT", 403],
  ["127.0.0.1\\.evil.example:PORT", 403],
  ["xn--lcalhost-n1a:PORT", 403],
  ["localhost:PORT/evil", 403],
  ["http://localhost:PORT", 403],
  ["localhost:123456", 403],
];

describe("names", () => {
  test.each(hosts)("[AUTH-2] Host %j: %d", async (host, status) => {
    const port = caller.host.split(":")[1] ?? "";
    const value = host.replace("PORT", port);
    const head = `Host: ${value}\r\nAuthorization: Bearer ${house.parts.token}\r\nX-Forwarded-Host: 127.0.0.1:${port}\r\n`;
    const answer = await raw(`GET /api/tabs HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    const got = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    // A name that no address can hold is refused before it is looked at.
    expect(status === 403 ? [400, 403] : [status]).toContain(got);
    if (status !== 200) safe(answer);
    if (status !== 200) expect([400, 403]).toContain(statusOf(await raw(upgrade(value, bearerLine()))));
  });

  test.each([
    ["http://evil.example/api/tabs", [403]],
    ["http://evil.example:80/api/tabs", [403]],
    ["https://OWN/api/tabs", [200]],
    ["http://OWN/api/tabs", [200]],
    ["http://OWN.evil.example/api/tabs", [400, 403]],
    ["http://OWN@evil.example/api/tabs", [400, 403]],
    ["http://evil.example/", [403]],
    ["//evil.example/api/tabs", [404]],
    ["*", [400, 404]],
    ["api/tabs", [400]],
    ["/api\\tabs", [400, 404]],
  ])("[AUTH-2] the request line %s with our own Host: %j", async (target, statuses) => {
    const line = `GET ${target.replace("OWN", caller.host)} HTTP/1.1`;
    const answer = await raw(`${line}\r\nHost: ${caller.host}\r\n${bearerLine()}Connection: close\r\n\r\n`);
    expect(statuses).toContain(statusOf(answer));
  });

  test.each([
    ["http://OWN", 200],
    ["HTTP://OWN", 200],
    ["http://OWN/", 403],
    ["http://OWN.", 403],
    ["http://user@OWN", 403],
  ])("[AUTH-3] Origin %s, spelled as no browser does: %d", async (origin, status) => {
    const headers = { authorization: `Bearer ${house.parts.token}`, origin: origin.replace("OWN", caller.host) };
    expect((await caller({ method: "GET", path: "/api/tabs", headers })).status).toBe(status);
  });

  test("[AUTH-2] two Host headers are none, and an address in the request line does not stand for one", async () => {
    const bearer = `Authorization: Bearer ${house.parts.token}\r\nConnection: close\r\n\r\n`;
    const two = await raw(`GET /api/tabs HTTP/1.1\r\nHost: ${caller.host}\r\nHost: evil.example\r\n${bearer}`);
    expect(two).toMatch(/^HTTP\/1\.1 40[03] /);
    const absolute = `GET http://${caller.host}/api/tabs HTTP/1.1\r\nHost: evil.example\r\n${bearer}`;
    expect(await raw(absolute)).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  test.each([
    ["null"],
    ["http://ORIGIN.evil.example"],
    ["http://evil.example"],
    ["http://localhost:1"],
    ["file://"],
    ["chrome-extension://x"],
    ["blob:http://ORIGIN/x"],
    [""],
    ["http://ORIGIN, http://evil.example"],
  ])("[AUTH-3] Origin %j is refused with the token too", async (origin) => {
    const headers = { authorization: `Bearer ${house.parts.token}`, origin: origin.replace("ORIGIN", caller.host) };
    const answer = await caller({ method: "GET", path: "/api/tabs", headers });
    expect(answer.status).toBe(403);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });
});
