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
const upgrade = (host: string): string =>
  `GET /api/ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

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
    expect(answer).toMatch(/content-security-policy: default-src 'none'/i);
    expect(answer).toMatch(/x-content-type-options: nosniff/i);
    expect(answer).toMatch(/cache-control: no-store/i);
    await closed;
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
