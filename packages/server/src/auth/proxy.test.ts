/** The server behind a reverse proxy that speaks TLS, and next to somebody who only says so. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createServer as createPlain, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTls, request as tlsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Reply } from "../testing/call.ts";
import { type House, openHouse, temporaryFolder } from "../testing/house.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const folder = temporaryFolder();
const name = "varve.example";
let house: House;
let port: number;
const closers: (() => void)[] = [];

beforeAll(async () => {
  // The house sees the proxy as 127.0.0.1, and whoever calls it directly from another loopback address as a stranger.
  house = await openHouse({ address: { trustProxies: ["127.0.0.1"], allowHosts: [name] } });
  port = Number((await house.listen()).host.split(":")[1]);
});
afterAll(async () => {
  for (const close of closers) close();
  await house[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Proxy {
  readonly port: number;
  readonly secure: boolean;
}
type Extra = Readonly<Record<string, string>>;

/** What nginx does: says who called and how, and hands on. `from`: the loopback address it calls from. */
async function proxy(secure: boolean, extra: Extra = {}, from = "127.0.0.1"): Promise<Proxy> {
  const said = (incoming: IncomingMessage): Extra => ({
    "x-forwarded-for": incoming.headers["x-test-client"]?.toString() ?? incoming.socket.remoteAddress ?? "",
    "x-forwarded-proto": secure ? "https" : "http",
    "x-forwarded-host": incoming.headers.host ?? "",
    ...extra,
  });
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const headers = { ...incoming.headers, host: `127.0.0.1:${port}`, ...said(incoming) };
    const options = {
      host: "127.0.0.1",
      port,
      localAddress: from,
      method: incoming.method,
      path: incoming.url,
      headers,
    };
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
  const server = secure ? createTls(certificate(), handle) : createPlain(handle);
  server.on("upgrade", (incoming: IncomingMessage, socket, head) => {
    const onward = connect({ host: "127.0.0.1", port, localAddress: from }, () => {
      const headers = { ...incoming.headers, host: `127.0.0.1:${port}`, ...said(incoming) };
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${String(value)}\r\n`);
      onward.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join("")}\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => void server.close().closeAllConnections());
  // A server that listens on a port has an address of this kind.
  return { port: (server.address() as AddressInfo).port, secure };
}

function certificate() {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", `/CN=${name}`, "-days", "2", "-nodes"];
  const made = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-keyout",
    key,
    "-out",
    cert,
  ];
  execFileSync("openssl", [...made, ...subject], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Extra;
  readonly body?: unknown;
}

function ask(through: Proxy, { method = "GET", path, headers = {}, body }: Asked): Promise<Reply> {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const typed = body === undefined ? {} : { "content-type": "application/json" };
  const options = {
    host: "127.0.0.1",
    port: through.port,
    method,
    path,
    headers: { host: name, ...typed, ...headers },
  };
  return new Promise((resolve, reject) => {
    const send = through.secure ? tlsRequest : request;
    const outgoing = send({ ...options, rejectUnauthorized: false }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      incoming.on("end", () => {
        const flat = Object.entries(incoming.headers).map(([key, value]) => [key, String(value)] as const);
        const json: unknown = text.startsWith("{") ? JSON.parse(text) : undefined;
        resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(flat), text, json });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}
const signIn = (through: Proxy, headers: Extra = {}): Promise<Reply> =>
  ask(through, { method: "POST", path: "/api/sign-in", headers, body: { code: house.parts.codes.make() } });
const bearer = () => ({ authorization: `Bearer ${house.parts.token}` });
const statusOf = async (through: Proxy, headers: Extra): Promise<number> =>
  (await ask(through, { path: "/api/tabs", headers: { ...bearer(), ...headers } })).status;

describe.each([
  ["TLS", true],
  ["plain HTTP", false],
])("behind a trusted proxy of %s", (_name, secure) => {
  const skipped = secure && !hasOpenssl;
  const [scheme, other] = secure ? ["https", "http"] : ["http", "https"];

  test.skipIf(skipped)("[AUTH-35] the page signs in, and its cookie is Secure exactly under https", async () => {
    const through = await proxy(secure);
    const answer = await signIn(through, { origin: `${scheme}://${name}` });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers["set-cookie"]?.includes("; Secure")).toBe(secure);
    const device = {
      cookie: answer.headers["set-cookie"]?.split(";")[0] ?? "",
      "x-varve-key": String(Reflect.get(Object(answer.json), "key")),
      origin: `${scheme}://${name}`,
    };
    expect(await ask(through, { path: "/api/me", headers: device })).toMatchObject({ status: 200 });
    const link = await ask(through, { method: "POST", path: "/api/links", headers: device, body: {} });
    expect(link.json).toMatchObject({ url: expect.stringMatching(`^${scheme}://${name}/#code=`) });
    const program = await ask(through, { method: "POST", path: "/api/links", headers: bearer(), body: {} });
    expect(program.json).toMatchObject({ url: expect.stringMatching(`^${scheme}://${name}/#code=`) });
  });

  test.skipIf(skipped)("[AUTH-35] the origin must be the forwarded host under the forwarded scheme", async () => {
    const through = await proxy(secure);
    expect(await statusOf(through, { origin: `${scheme}://${name}` })).toBe(200);
    for (const origin of [`${other}://${name}`, `${scheme}://evil.example`, `${scheme}://${name}:1`, "null"]) {
      expect(await statusOf(through, { origin }), origin).toBe(403);
    }
    expect(await statusOf(through, { origin: `http://127.0.0.1:${port}` })).toBe(403);
  });

  test.skipIf(skipped)(
    "[AUTH-35] the forwarded host must be a name of this server: rebinding through the proxy fails",
    async () => {
      const through = await proxy(secure);
      for (const host of ["evil.example", `${name}.evil.example`, ""]) {
        expect(await statusOf(through, { host, origin: `${scheme}://${host}` }), host).toBeGreaterThanOrEqual(400);
      }
    },
  );

  test.skipIf(skipped)("[AUTH-35] a socket opens through it, with the page's own origin alone", async () => {
    const through = await proxy(secure);
    const signedIn = await signIn(through, { origin: `${scheme}://${name}` });
    const cookie = signedIn.headers["set-cookie"]?.split(";")[0] ?? "";
    const key = String(Reflect.get(Object(signedIn.json), "key"));
    const open = (origin: string): Promise<number | string> =>
      new Promise((resolve, reject) => {
        const url = `${secure ? "wss" : "ws"}://127.0.0.1:${through.port}/api/ws`;
        const socket = new WebSocket(url, { headers: { host: name, cookie, origin }, rejectUnauthorized: false });
        socket.on("unexpected-response", (_request, answer) => resolve(answer.resume().statusCode ?? 0));
        socket.on("open", () => socket.send(JSON.stringify({ type: "hello", v: [1], client: "c", key })));
        socket.on("message", (data) => {
          resolve(String(Reflect.get(Object(JSON.parse(data.toString())), "type")));
          socket.close();
        });
        socket.on("error", reject);
      });
    expect(await open(`${scheme}://${name}`)).toBe("hello");
    expect(await open(`${other}://${name}`)).toBe(403);
    expect(await open("https://evil.example")).toBe(403);
  });
});

describe("guesses", () => {
  test("[AUTH-35] are counted by forwarded caller, so one neither locks out nor is hidden by another", async () => {
    const through = await proxy(false);
    const guess = (client: string) =>
      ask(through, {
        method: "POST",
        path: "/api/sign-in",
        headers: { "x-test-client": client },
        body: { code: "wrong" },
      });
    for (let n = 0; n < 10; n++) expect((await guess("203.0.113.1")).status).toBe(401);
    expect((await guess("203.0.113.1")).status).toBe(429);
    expect((await guess("203.0.113.2")).status).toBe(401);
    // What the caller writes before the proxy's own word changes nothing.
    expect((await guess("198.51.100.1, 203.0.113.1")).status).toBe(429);
  });
});

/** Needs a second loopback address, which only some systems have by themselves. */
const secondAddress = process.platform === "linux" ? "127.0.0.2" : null;

describe("a proxy that nobody named", () => {
  test.skipIf(secondAddress === null)(
    "[AUTH-34] is not believed: host, scheme and caller are what they are",
    async () => {
      const liar = await proxy(false, { "x-forwarded-proto": "https" }, secondAddress ?? "");
      const own = `http://127.0.0.1:${port}`;
      expect(await statusOf(liar, { origin: `https://${name}` })).toBe(403);
      expect(await statusOf(liar, { origin: own })).toBe(200);
      const answer = await signIn(liar, { origin: own });
      expect(answer.status).toBe(200);
      expect(answer.headers["set-cookie"]).not.toContain("Secure");
      const link = await ask(liar, { method: "POST", path: "/api/links", headers: bearer(), body: {} });
      expect(link.json).toMatchObject({ url: expect.stringMatching(`^${own}/#code=`) });
    },
  );

  test.skipIf(secondAddress === null)("[AUTH-34] cannot give each of its guesses another address", async () => {
    const liar = await proxy(false, {}, secondAddress ?? "");
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) {
      const headers = { "x-test-client": `203.0.113.${100 + n}`, forwarded: `for=203.0.113.${100 + n}` };
      statuses.push((await ask(liar, { method: "POST", path: "/api/sign-in", headers, body: { code: "x" } })).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
  });

  test("[AUTH-34] whoever names one that is none learns it in one sentence", async () => {
    await expect(openHouse({ address: { trustProxies: ["everybody"] } })).rejects.toThrow("no address of a proxy");
    await expect(openHouse({ address: { publicUrl: "varve.example" } })).rejects.toThrow("no public address");
  });
});

describe("links for other devices", () => {
  test("[AUTH-38] lead to the public address, which counts as a name of the server", async () => {
    await using other = await openHouse({ address: { publicUrl: `https://${name}` } });
    const link = await other.call("POST", "/api/links", {});
    expect(link.json).toMatchObject({ url: expect.stringMatching(`^https://${name}/#code=`), others: [] });
    const origin = "http://127.0.0.1:4477";
    const page = await other.memory({
      method: "POST",
      path: "/api/links",
      headers: { authorization: `Bearer ${other.parts.token}`, origin },
      body: {},
    });
    const code = String(Reflect.get(Object(page.json), "code"));
    expect(page.json).toMatchObject({ url: `${origin}/#code=${code}`, others: [`https://${name}/#code=${code}`] });
    const headers = { authorization: `Bearer ${other.parts.token}`, host: name };
    expect(await other.memory({ method: "GET", path: "/api/tabs", headers })).toMatchObject({ status: 200 });
  });

  test("[AUTH-38] say no other address where no other machine can call", async () => {
    expect((await house.call("POST", "/api/links", {})).json).toMatchObject({
      others: [],
      sockets: 0,
      endsAt: expect.any(Number),
    });
  });
});
