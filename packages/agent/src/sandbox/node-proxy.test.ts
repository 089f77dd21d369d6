import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseHostRule } from "./host-list.ts";
import { openProxy, targetOf } from "./node-proxy.ts";

/** A server on loopback that counts, and a proxy before it; every name leads to loopback. */
async function house(rules: (port: number) => readonly string[]) {
  const seen: string[] = [];
  const server = createServer((asked, answer) => {
    seen.push(
      `${asked.method} ${asked.headers.host} ${asked.url} ${asked.headers["proxy-authorization"] ?? ""}`.trim(),
    );
    answer.end("hello");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // What listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), "varve-"));
  const hosts = rules(port).flatMap((text) => parseHostRule(text) ?? []);
  const proxy = await openProxy(hosts, folder, async (host) => (host.startsWith("none") ? [] : ["127.0.0.1"]));
  return {
    seen,
    port,
    socket: join(folder, proxy.name),
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const plain = (socketPath: string, path: string) =>
  new Promise<string>((done, failed) => {
    const headers = { "proxy-authorization": "secret", host: "other.example" };
    const asked = request({ socketPath, path, headers }, (answer) => {
      let text = "";
      answer.on("data", (bytes: Buffer) => {
        text += bytes.toString();
      });
      answer.on("end", () => done(`${answer.statusCode} ${text.trim()}`));
    });
    asked.on("error", failed);
    asked.end();
  });

const tunnelled = (path: string, authority: string) =>
  new Promise<string>((done) => {
    const socket = connect(path);
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
      if (text.endsWith("established\r\n\r\n")) {
        socket.write("GET /t HTTP/1.1\r\nHost: in.example\r\nConnection: close\r\n\r\n");
      }
    });
    socket.on("error", () => done(text));
    socket.on("close", () => done(text));
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  });

describe("the proxy of a sandbox", () => {
  test("[TOOL-123] a host that was named is reached, at its private address too, under its own name", async () => {
    await using at = await house((port) => [`a.example:${port}`]);
    expect(await plain(at.socket, `http://a.example:${at.port}/x?y`)).toBe("200 hello");
    expect(await tunnelled(at.socket, `a.example:${at.port}`)).toContain("hello");
    expect(at.seen).toEqual([`GET a.example:${at.port} /x?y`, "GET in.example /t"]);
  });

  test("[TOOL-123] every other one is refused and not asked", async () => {
    await using at = await house((port) => [`a.example:${port}`, "*.wide.example", "none.example"]);
    for (const [host, words] of [
      ["b.example", /403 .*not among the hosts/],
      ["x.a.example", /403 .*not among/],
      ["127.0.0.1", /403 .*not among/],
      ["x.wide.example", /403 .*private address/],
      ["none.example", /403 .*no address/],
    ] as const) {
      expect(await plain(at.socket, `http://${host}:${at.port}/`)).toMatch(words);
      expect(await tunnelled(at.socket, `${host}:${at.port}`)).toMatch(/^HTTP\/1.1 403/);
    }
    expect(await plain(at.socket, `http://a.example:${at.port + 1}/`)).toMatch(/^403/);
    expect(await plain(at.socket, "/relative")).toMatch(/^400/);
    expect(await plain(at.socket, "https://a.example/")).toMatch(/^400/);
    expect(await tunnelled(at.socket, "nonsense")).toMatch(/^HTTP\/1.1 403/);
    expect(at.seen).toEqual([]);
  });

  test.each([
    ["a.example:443", { host: "a.example", port: 443 }],
    ["[::1]:443", { host: "[::1]", port: 443 }],
    ["a.example", null],
    ["user@a.example:443", null],
    ["a.example:0", null],
    ["a/b:1", null],
  ])("[TOOL-123] CONNECT %s", (authority, target) => {
    expect(targetOf(authority)).toEqual(target);
  });
});
