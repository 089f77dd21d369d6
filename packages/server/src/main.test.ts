import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";
import { isFault } from "@varve/protocol";
import { createPrng } from "@varve/sim";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { askForLink, findServer, type RunningServer, type StartOptions, startServer } from "./index.ts";
import { type Caller, socketCaller } from "./testing/call.ts";
import { realClock, temporaryFolder } from "./testing/house.ts";

let home: string;
const running: RunningServer[] = [];
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  rmSync(home, { recursive: true, force: true });
});

let seed = 0;
function options(given: Partial<StartOptions> = {}): StartOptions {
  const prng = createPrng(++seed);
  return {
    host: "127.0.0.1",
    port: 0,
    home,
    userHome: home,
    allowHosts: [],
    env: {},
    clock: realClock,
    randomBytes: (into) => prng.fill(into),
    random: () => 0.5,
    fetch: globalThis.fetch,
    pid: process.pid,
    webRoot: null,
    version: "0.0.0",
    build: "b",
    writeLog: () => undefined,
    demoDelayMs: 0,
    ...given,
  };
}

async function started(given: Partial<StartOptions> = {}): Promise<RunningServer> {
  const outcome = await startServer(options(given));
  if (isFault(outcome)) throw new Error(outcome.message);
  if (outcome.kind !== "running") throw new Error("another server has the home");
  running.push(outcome);
  return outcome;
}
const callerOf = ({ port }: RunningServer): Caller => socketCaller(port);
const asToken = ({ token }: RunningServer) => ({ authorization: `Bearer ${token}` });

describe("a start", () => {
  test("[HTTP-24] listens, keeps its files to its owner, and leaves nothing running when it ends", async () => {
    const server = await started();
    await server.settled;
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(await callerOf(server)({ method: "GET", path: "/health" })).toMatchObject({ status: 200 });
    for (const name of ["token", "server.json", "varve.db"]) {
      expect(statSync(join(home, name)).mode & 0o077, name).toBe(0);
    }
    expect(JSON.parse(readFileSync(join(home, "server.json"), "utf8"))).toMatchObject({
      url: server.url,
      pid: process.pid,
    });
    expect(readFileSync(join(home, "server.json"), "utf8")).not.toContain(server.token);
    await Promise.all([server.stop(), server.stop()]);
    expect(existsSync(join(home, "server.json"))).toBe(false);
    await expect(callerOf(server)({ method: "GET", path: "/health" })).rejects.toThrow();
  });

  test("[AUTH-13] a device that signed in by the link is still signed in after a restart, under the same cookie name", async () => {
    const first = await started();
    const code = first.link().split("#code=")[1];
    const caller = callerOf(first);
    const signedIn = await caller({ method: "POST", path: "/api/sign-in", body: { code } });
    expect(signedIn).toMatchObject({ status: 200, json: { build: "b" } });
    const cookie = signedIn.headers["set-cookie"]?.split(";", 1)[0] ?? "";
    const key = String(Reflect.get(Object(signedIn.json), "key"));
    expect(await caller({ method: "POST", path: "/api/sign-in", body: { code } })).toMatchObject({ status: 401 });
    await first.stop();
    const second = await started();
    expect(second.token).toBe(first.token);
    const me = await callerOf(second)({ method: "GET", path: "/api/me", headers: { cookie, "x-varve-key": key } });
    expect(me).toMatchObject({ status: 200, json: { signedIn: true } });
  });

  test("[AUTH-15] the cookie is for this server alone, for the page's requests alone, and out of scripts' reach", async () => {
    const server = await started();
    const code = server.link().split("#code=")[1];
    const signedIn = await callerOf(server)({ method: "POST", path: "/api/sign-in", body: { code } });
    const cookie = signedIn.headers["set-cookie"] ?? "";
    expect(cookie).toMatch(/^varve-[0-9a-f]{12}=/);
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/", `Max-Age=${400 * 86_400}`])
      expect(cookie).toContain(part);
    expect(signedIn.text).not.toContain(cookie.split("=")[1]?.split(";")[0]);
    const other = temporaryFolder();
    const elsewhere = await started({ home: other });
    const again = await callerOf(elsewhere)({
      method: "POST",
      path: "/api/sign-in",
      body: { code: elsewhere.link().split("#code=")[1] },
    });
    expect(again.headers["set-cookie"]?.split("=")[0]).not.toBe(cookie.split("=")[0]);
    await elsewhere.stop();
    rmSync(other, { recursive: true, force: true });
  });

  test("[AUTH-2] a further name counts once it is allowed", async () => {
    const server = await started({ allowHosts: ["Varve.Example"] });
    const headers = { ...asToken(server), host: "varve.example" };
    expect(await callerOf(server)({ method: "GET", path: "/api/tabs", headers })).toMatchObject({ status: 200 });
  });

  test("[AUTH-16] H18: beyond loopback it starts only with a token of one's own, and then answers to its interfaces", async () => {
    const refused = await startServer(options({ host: "0.0.0.0" }));
    expect(refused).toMatchObject({ code: "bad-request", message: expect.stringContaining("0.0.0.0") });
    expect(existsSync(join(home, "varve.db"))).toBe(false);
    const env = { VARVE_TOKEN: "a-long-enough-secret" };
    const server = await started({ host: "0.0.0.0", env });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(existsSync(join(home, "token"))).toBe(false);
    expect(await callerOf(server)({ method: "GET", path: "/api/tabs", headers: asToken(server) })).toMatchObject({
      status: 200,
    });
  });
});

describe("what a server keeps", () => {
  test("[HTTP-29] lies in its home, and long outputs of tools are still there after a restart", async () => {
    const before = readdirSync(tmpdir());
    await (await started()).stop();
    writeFileSync(join(home, "output", "kept.txt"), "long");
    await (await started()).stop();
    expect(readFileSync(join(home, "output", "kept.txt"), "utf8")).toBe("long");
    expect(readdirSync(tmpdir()).filter((name) => !before.includes(name) && name.startsWith("varve-output"))).toEqual(
      [],
    );
  });
});

describe("a second start on the same home", () => {
  test("[HTTP-26] is answered with the address of the first and a new link that works", async () => {
    const server = await started();
    const second = await startServer(options());
    if (isFault(second) || second.kind !== "elsewhere" || isFault(second.link)) throw new Error("no link");
    expect(second.url).toBe(server.url);
    expect(second.link.sockets).toBe(0);
    expect(second.link.url).toMatch(new RegExp(`^${server.url}/#code=[\\w-]{43}$`));
    const code = second.link.url.split("#code=")[1];
    expect(await callerOf(server)({ method: "POST", path: "/api/sign-in", body: { code } })).toMatchObject({
      status: 200,
    });
  });

  test("[HTTP-26] with another token than the first was given there is an address and a sentence, no link", async () => {
    const server = await started({ env: { VARVE_TOKEN: "the-first-long-secret" } });
    for (const env of [{}, { VARVE_TOKEN: "another-long-secret" }]) {
      const second = await startServer(options({ env }));
      expect(second).toMatchObject({ kind: "elsewhere", url: server.url, link: { code: "unauthorized" } });
    }
  });

  test("[HTTP-26] a server that is gone and one that hangs are told apart from none", async () => {
    expect(await findServer(home, options())).toMatchObject({ code: "log-unavailable" });
    expect(await askForLink({ url: "http://127.0.0.1:9", token: "x" }, globalThis.fetch)).toMatchObject({
      code: "log-unavailable",
    });
  });
});

describe("what cannot start", () => {
  test("[HTTP-25] a busy port is one sentence, and the home is free again", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const outcome = await startServer(options({ port }));
    expect(outcome).toMatchObject({
      code: "address-unavailable",
      message: `Port ${port} on 127.0.0.1 is in use by another program.`,
    });
    await new Promise((resolve) => other.close(resolve));
    await started({ port });
  });

  test("[HTTP-25] a damaged database is one sentence, and not a byte of it is changed", async () => {
    const path = join(home, "varve.db");
    const bytes = Buffer.from("this is no database, but somebody's file ".repeat(100));
    writeFileSync(path, bytes);
    expect(await startServer(options())).toMatchObject({ code: "log-damaged", message: expect.stringContaining(path) });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("[HTTP-25] a home that is a file is one sentence", async () => {
    const path = join(home, "file");
    writeFileSync(path, "x");
    expect(await startServer(options({ home: path }))).toMatchObject({ code: "log-unavailable" });
  });

  test.skipIf(getuid?.() === 0)("[HTTP-25] a home without rights is one sentence", async () => {
    const path = join(home, "closed");
    mkdirSync(path);
    chmodSync(path, 0o000);
    expect(await startServer(options({ home: path }))).toMatchObject({ code: "log-unavailable" });
  });

  test("[HTTP-25] a weak VARVE_TOKEN is one sentence, and the home is free again", async () => {
    expect(await startServer(options({ env: { VARVE_TOKEN: "short" } }))).toMatchObject({ code: "bad-request" });
    await started();
  });
});

describe("the end", () => {
  test("[HTTP-27] a turn that runs is ended well, and what it did is there after the next start", async () => {
    const first = await started();
    const headers = asToken(first);
    const caller = callerOf(first);
    const made = await caller({
      method: "POST",
      path: "/api/tabs",
      headers,
      body: { id: "t", cwd: "/tmp", model: "demo/demo" },
    });
    expect(made.status).toBe(201);
    await caller({
      method: "POST",
      path: "/api/tabs/t/messages",
      headers,
      body: { id: "m", text: "what can you do?" },
    });
    await first.stop();
    const second = await started();
    await second.settled;
    const page = await callerOf(second)({ method: "GET", path: "/api/tabs/t/chunks", headers });
    expect(page.text).toContain('"kind":"turn-end"');
    expect(await callerOf(second)({ method: "GET", path: "/api/tabs/t", headers })).toMatchObject({
      json: { waits: 0 },
    });
  });
});
