import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isPublicAddress } from "./addresses.ts";
import { htmlToMarkdown } from "./html.ts";
import { toolLimits } from "./limits.ts";
import type { HttpAnswer, HttpOperations } from "./operations.ts";
import { scratch } from "./testing/scratch.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler): Promise<AsyncDisposable & { readonly host: string; readonly server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // An address object, because the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    server,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

const page = `<!doctype html><html><head><title>News</title><script>evil()</script></head><body><nav>menu</nav>
<article><h1>News</h1><p>${"A long enough paragraph about things. ".repeat(20)}</p><p>See <a href="/x">this</a>.</p></article></body></html>`;

describe("fetch", () => {
  test("[TOOL-90] a page comes as Markdown, without scripts", async () => {
    await using web = await serve((_request, response) =>
      response.setHeader("content-type", "text/html; charset=utf-8").end(page),
    );
    await using at = scratch({ privateHosts: [web.host] });
    const outcome = await at.call("fetch", { url: `http://${web.host}/news#part` });
    expect(outcome.isError).toBe(false);
    expect(outcome.text).toMatch(/^# News\n/);
    expect(outcome.text).toContain("See [this](/x).");
    expect(outcome.text).not.toMatch(/evil|<p>/);
    expect(outcome.details).toMatchObject({ status: 200, url: `http://${web.host}/news` });
  });

  test.each([
    ["text/plain", Buffer.from("plain\n"), "plain\n"],
    ["application/json", Buffer.from('{"a":1}'), '{"a":1}'],
    ["text/plain; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    ["image/png", Buffer.from([137, 80, 78, 71]), "⟨binary, image/png, 4 bytes⟩"],
    ["text/plain; charset=made-up", Buffer.from("x"), "x"],
    ["text/plain", Buffer.from("a\0b"), "⟨binary, text/plain, 3 bytes⟩"],
  ])("[TOOL-91] %s", async (type, body, text) => {
    await using web = await serve((_request, response) => response.setHeader("content-type", type).end(body));
    await using at = scratch({ privateHosts: ["127.0.0.1"] });
    expect((await at.call("fetch", { url: `http://${web.host}/` })).text).toBe(text);
  });

  test("[TOOL-91] compressed answers are read, and bounded after they are", async () => {
    const large = gzipSync("z".repeat(20 * 1024 ** 2));
    await using web = await serve((request, response) => {
      expect(request.headers["accept-encoding"]).toContain("gzip");
      response.setHeader("content-type", "text/plain").setHeader("content-encoding", "gzip").end(large);
    });
    await using at = scratch({ privateHosts: [web.host] });
    const outcome = await at.call("fetch", { url: `http://${web.host}/` });
    expect(outcome.text).toContain(`larger than ${toolLimits.fetchBytesMax} bytes: cut`);
    expect(outcome.spill?.bytes.length).toBe(toolLimits.fetchBytesMax);
    expect(outcome.text.length).toBeLessThan(toolLimits.resultCharsMax);
  });

  test("[TOOL-92] redirects within a host are followed and shown, to another host not followed", async () => {
    const asked: string[] = [];
    await using web = await serve((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === "/a") response.writeHead(302, { location: "/b" }).end();
      else if (request.url === "/b") response.setHeader("content-type", "text/plain").end("here");
      else if (request.url === "/loop") response.writeHead(301, { location: "/loop" }).end();
      else if (request.url === "/file") response.writeHead(301, { location: "file:///etc/passwd" }).end();
      else response.writeHead(301, { location: "http://elsewhere.example/x" }).end();
    });
    await using at = scratch({ privateHosts: [web.host] });
    const url = (path: string) => ({ url: `http://${web.host}${path}` });
    expect((await at.call("fetch", url("/a"))).text).toBe(`⟨302: redirected to http://${web.host}/b⟩\nhere`);
    const away = await at.call("fetch", url("/away"));
    expect(away.text).toContain("http://elsewhere.example/x⟩\n⟨another host: not followed");
    expect((await at.call("fetch", url("/loop"))).text).toContain("more than 5 redirects");
    expect((await at.call("fetch", url("/file"))).text).toContain("Only http and https");
    expect(asked.filter((path) => path === "/loop")).toHaveLength(6);
  });

  test("[TOOL-91] an HTTP error is one, with its text", async () => {
    await using web = await serve((_request, response) =>
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page"),
    );
    await using at = scratch({ privateHosts: [web.host] });
    expect(await at.call("fetch", { url: `http://${web.host}/` })).toMatchObject({
      isError: true,
      text: "⟨HTTP 404⟩\nno such page",
    });
  });

  test.each([
    "http://127.0.0.1:4477/api/tabs",
    "http://localhost/",
    "http://[::1]/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
    "http://0/",
  ])("[TOOL-93] %s is of a private network and not fetched", async (url) => {
    await using at = scratch({ change: (real) => ({ ...real, http: { ...real.http, get: neverGet } }) });
    expect(await at.call("fetch", { url })).toMatchObject({
      isError: true,
      text: expect.stringContaining("private network"),
    });
  });

  test("[TOOL-93] one private address among public ones is enough, and the judged address is the one asked", async () => {
    const asked: string[] = [];
    const http: HttpOperations = {
      resolve: async (host) => (host === "mixed.example" ? ["93.184.216.34", "10.0.0.1"] : ["93.184.216.34"]),
      get: async ({ address }) => {
        asked.push(address);
        return answer("ok");
      },
    };
    await using at = scratch({ change: (real) => ({ ...real, http }) });
    expect((await at.call("fetch", { url: "https://mixed.example/" })).text).toContain("private network");
    expect((await at.call("fetch", { url: "https://good.example/" })).text).toBe("ok");
    expect(asked).toEqual(["93.184.216.34"]);
  });

  test.each([
    ["file:///etc/passwd", /Only http and https/],
    ["ftp://example.org/", /Only http and https/],
    ["javascript:alert(1)", /Only http and https/],
    ["example.org", /not an address/],
    ["https://user:pass@example.org/", /user name/],
  ])("[TOOL-94] %s is refused before anyone is asked", async (url, words) => {
    await using at = scratch();
    expect(await at.box.get("fetch")?.prepare({ url }, at.place)).toEqual({ error: expect.stringMatching(words) });
  });

  test("[TOOL-95] a silent server is given up after the limit, a stop ends the wait at once", async () => {
    const fires: (() => void)[] = [];
    const http: HttpOperations = {
      resolve: async () => ["93.184.216.34"],
      get: () => new Promise<HttpAnswer>(() => {}),
    };
    await using at = scratch({
      change: (real) => ({
        ...real,
        http,
        clock: { now: () => 0, setTimer: (_ms, fire) => ({ cancel: () => {}, at: fires.push(fire) }) },
      }),
    });
    const slow = at.call("fetch", { url: "https://silent.example/" });
    await expect.poll(() => fires.length).toBe(1);
    fires[0]?.();
    expect((await slow).text).toBe("silent.example did not answer within 30 s.");
    const stop = new AbortController();
    const stopped = at.call("fetch", { url: "https://silent.example/" }, { signal: stop.signal });
    stop.abort("stopped");
    expect((await stopped).text).toMatch(/stopped/);
  });

  test("[TOOL-95] a refused connection is said in words", async () => {
    const web = await serve(() => {});
    const { host } = web;
    await web[Symbol.asyncDispose]();
    await using at = scratch({ privateHosts: [host] });
    expect((await at.call("fetch", { url: `http://${host}/` })).text).toBe(
      `${host} could not be reached: it refused the connection.`,
    );
  });

  test.each([
    ["deep", `${"<div>".repeat(60_000)}text`],
    ["deep in a way that is not seen at once", `${"<p><b></p>".repeat(30_000)}text`],
    ["wide", "<div><p>a, b, c</p></div>".repeat(60_000)],
  ])("[TOOL-90] a hostile page does not hold the server: %s", async (_name, html) => {
    const start = performance.now();
    await htmlToMarkdown(html);
    expect(performance.now() - start).toBeLessThan(8_000);
  });
});

const neverGet = () => Promise.reject(new Error("must not be asked"));

function answer(text: string): HttpAnswer {
  return {
    status: 200,
    contentType: "text/plain",
    location: null,
    body: (async function* () {
      yield Buffer.from(text);
    })(),
    close: () => {},
  };
}

describe("public addresses", () => {
  test.each([
    ["93.184.216.34", true],
    ["8.8.8.8", true],
    ["172.15.0.1", true],
    ["172.32.0.1", true],
    ["100.63.0.1", true],
    ["2606:4700::1111", true],
    ["64:ff9b::8.8.8.8", true],
    ["0.0.0.0", false],
    ["10.1.2.3", false],
    ["100.64.0.1", false],
    ["127.0.0.1", false],
    ["127.255.255.254", false],
    ["169.254.169.254", false],
    ["172.16.0.1", false],
    ["172.31.255.255", false],
    ["192.168.1.1", false],
    ["198.18.0.1", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::127.0.0.1", false],
    ["::ffff:10.0.0.1", false],
    ["::ffff:0a00:0001", false],
    ["64:ff9b::10.0.0.1", false],
    ["64:ff9b:1::1", false],
    ["2002:0a00:0001::", false],
    ["2001::1", false],
    ["2001:db8::1", false],
    ["fc00::1", false],
    ["fd12:3456::1", false],
    ["fe80::1", false],
    ["fe80::1%eth0", false],
    ["ff02::1", false],
    ["localhost", false],
    ["", false],
  ])("[TOOL-93] %s is public: %s", (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});
