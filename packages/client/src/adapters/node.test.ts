import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { chunkId, Owner, theTab } from "../test-kit/owner.ts";
import { bearerRest, TailRefused, tailFrames } from "./node.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

describe("following a tab", () => {
  test("[TAIL-3] frames come as they are sent, with the id to go on from", async () => {
    const owner = new Owner();
    owner.sealMany(2);
    const asked: (string | undefined)[] = [];
    const baseUrl = await serve((request, response) => {
      asked.push(request.url, request.headers.authorization, request.headers["last-event-id"]?.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      const text = `id: log-1:1:2\ndata: ${JSON.stringify(owner.head())}\n\n: beat\n\ndata: not a frame\n\ndata: {"type":"ping","ts":1}\n\n`;
      response.write(text.slice(0, 40));
      setImmediate(() => response.end(text.slice(40)));
    });
    const frames: [string, string][] = [];
    for await (const { frame, lastEventId } of tailFrames({
      baseUrl,
      token: "secret",
      tabId: theTab,
      lastEventId: "log-1:1:1",
    })) {
      frames.push([frame.type, lastEventId]);
    }
    expect(asked).toEqual(["/api/tabs/tab/events", "Bearer secret", "log-1:1:1"]);
    expect(frames).toEqual([
      ["head", "log-1:1:2"],
      ["ping", "log-1:1:2"],
    ]);
  });
  test("[TAIL-3] an error answer is thrown with the server's words", async () => {
    const baseUrl = await serve((_request, response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error":{"code":"unknown-tab","message":"There is no such tab.","hint":"List them."}}');
    });
    const next = tailFrames({ baseUrl, token: "t", tabId: theTab }).next();
    await expect(next).rejects.toBeInstanceOf(TailRefused);
    await expect(next).rejects.toMatchObject({
      body: { code: "unknown-tab", message: "There is no such tab.", hint: "List them." },
    });
  });
  test("[TAIL-3] leaving the loop, or the signal, ends the request", async () => {
    let closed = 0;
    const baseUrl = await serve((_request, response) => {
      response.on("close", () => {
        closed += 1;
      });
      response.writeHead(200);
      response.write('data: {"type":"ping","ts":1}\n\n');
    });
    for await (const { frame } of tailFrames({ baseUrl, token: "t", tabId: theTab })) {
      expect(frame.type).toBe("ping");
      break;
    }
    const stop = new AbortController();
    const frames = tailFrames({ baseUrl, token: "t", tabId: theTab, signal: stop.signal });
    await frames.next();
    stop.abort();
    await expect(frames.next()).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => closed).toBe(2);
  });
});

describe("asking by REST", () => {
  test("[TAIL-4] an answer is a value, whatever comes", async () => {
    const bodies: string[] = [];
    const baseUrl = await serve((request, response) => {
      let body = "";
      request.on("data", (piece: Buffer) => {
        body += piece.toString();
      });
      request.on("end", () => {
        bodies.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
        if (request.url === "/api/teapot") response.writeHead(418).end("<h1>no JSON</h1>");
        else if (request.url === "/api/refused")
          response.writeHead(409).end('{"error":{"code":"tab-running","message":"It runs."}}');
        else response.end('{"id":"m"}');
      });
    });
    const rest = bearerRest({ baseUrl, token: "k" });
    expect(await rest({ method: "POST", path: "/ok", body: { id: chunkId("m") } })).toEqual({
      ok: true,
      body: { id: "m" },
    });
    expect(await rest({ method: "GET", path: "/refused" })).toEqual({
      ok: false,
      error: { code: "tab-running", message: "It runs." },
    });
    expect(await rest({ method: "GET", path: "/teapot" })).toEqual({
      ok: false,
      error: { code: "internal", message: "The server answered 418." },
    });
    expect(bodies).toEqual([
      'POST /api/ok Bearer k {"id":"m"}',
      "GET /api/refused Bearer k ",
      "GET /api/teapot Bearer k ",
    ]);
  });
  test("[TAIL-4] nobody there is an answer too", async () => {
    const baseUrl = await serve(() => {});
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await bearerRest({ baseUrl, token: "k" })({ method: "GET", path: "/x" })).toMatchObject({
      ok: false,
      error: { code: "log-unavailable" },
    });
  });
});
