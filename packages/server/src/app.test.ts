import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "./testing/call.ts";
import { type House, openHouse } from "./testing/house.ts";

let house: House;
const lines: string[] = [];
const callers: Partial<Record<"memory" | "socket", Caller>> = {};

beforeAll(async () => {
  house = await openHouse({ writeLog: (line) => lines.push(line) });
  callers.memory = house.memory;
  callers.socket = await house.listen();
});
afterAll(() => house[Symbol.asyncDispose]());

const callerOf = (way: "memory" | "socket"): Caller => {
  const caller = callers[way];
  if (caller === undefined) throw new Error("the house is not open");
  return caller;
};
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${house.parts.token}` });

describe.each(["memory", "socket"] as const)("who may talk to the server, in %s", (way) => {
  test("[AUTH-1] H18: without a token or a device nothing is answered", async () => {
    const reply = await callerOf(way)({ method: "GET", path: "/api/tabs" });
    expect(reply).toMatchObject({ status: 401, json: { error: { code: "unauthorized" } } });
  });

  test("[AUTH-1] H18: a wrong token is refused, a right one is taken, whatever the letters of its scheme", async () => {
    const ask = (authorization: string) =>
      callerOf(way)({ method: "GET", path: "/api/tabs", headers: { authorization } });
    expect(await ask("Bearer wrong")).toMatchObject({ status: 401 });
    expect(await ask(house.parts.token)).toMatchObject({ status: 401 });
    expect(await ask(`Basic ${house.parts.token}`)).toMatchObject({ status: 401 });
    expect(await ask(`bearer ${house.parts.token}`)).toMatchObject({ status: 200, json: { tabs: [] } });
  });

  test.each([
    ["evil.example", "its name"],
    ["evil.example:80", "its name and a port"],
    ["127.0.0.1.evil.example", "a name that begins well"],
    ["localhost.", "a trailing dot"],
    ["[::2]", "another address"],
  ])("[AUTH-2] H18: Host %s is refused even with the token (%s)", async (host) => {
    const reply = await callerOf(way)({ method: "GET", path: "/api/tabs", headers: { ...bearer(), host } });
    expect(reply).toMatchObject({ status: 403, json: { error: { code: "host-refused" } } });
    const page = await callerOf(way)({ method: "GET", path: "/", headers: { host, accept: "text/html" } });
    expect(page.status).toBe(403);
  });

  test("[AUTH-2] H18: loopback names are known whatever their letters", async () => {
    const port = callerOf(way).host.split(":")[1];
    for (const name of ["LOCALHOST", "localhost", "127.0.0.1", "[::1]"]) {
      const headers = { ...bearer(), host: `${name}:${port}` };
      expect((await callerOf(way)({ method: "GET", path: "/api/tabs", headers })).status, name).toBe(200);
    }
  });

  test("[AUTH-3] H18: a page of another site is refused, with the cookie and with the token", async () => {
    const caller = callerOf(way);
    const device = await house.device(caller);
    const body = { cwd: house.project };
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "garbage"]) {
      for (const who of [device, bearer()]) {
        const reply = await caller({ method: "POST", path: "/api/tabs", headers: { ...who, origin }, body });
        expect(reply, origin).toMatchObject({ status: 403, json: { error: { code: "origin-refused" } } });
      }
    }
    expect(house.parts.workspace.list()).toEqual([]);
  });

  test("[AUTH-3] H18: with the cookie, a change without an Origin is refused; reading needs none unless it is cross-site", async () => {
    const caller = callerOf(way);
    const device = await house.device(caller);
    const ask = (method: string, headers: Record<string, string> = {}) =>
      caller({ method, path: "/api/tabs", headers: { ...device, ...headers }, ...(method === "POST" && { body: {} }) });
    expect(await ask("POST")).toMatchObject({ status: 403, json: { error: { code: "origin-refused" } } });
    expect(await ask("GET")).toMatchObject({ status: 200 });
    expect(await ask("GET", { "sec-fetch-site": "same-origin" })).toMatchObject({ status: 200 });
    expect(await ask("GET", { "sec-fetch-site": "cross-site" })).toMatchObject({ status: 403 });
    expect(await ask("GET", { "sec-fetch-site": "same-site" })).toMatchObject({ status: 403 });
    expect(await ask("POST", { origin: caller.origin })).toMatchObject({
      status: 400,
      json: { error: { code: "bad-request" } },
    });
  });

  test("[AUTH-4] the cookie alone never suffices, nor the second key alone", async () => {
    const caller = callerOf(way);
    const { cookie, "x-varve-key": key } = await house.device(caller);
    const other = await house.device(caller);
    const ask = (headers: Record<string, string>) => caller({ method: "GET", path: "/api/tabs", headers });
    expect(await ask({ cookie })).toMatchObject({ status: 401, json: { error: { code: "second-key-missing" } } });
    expect(await ask({ cookie, "x-varve-key": "x" })).toMatchObject({ status: 401 });
    expect(await ask({ cookie, "x-varve-key": other["x-varve-key"] })).toMatchObject({ status: 401 });
    expect(await ask({ "x-varve-key": key })).toMatchObject({ status: 401 });
    expect(await ask({ cookie: `a=b; ${cookie}; c=d`, "x-varve-key": key })).toMatchObject({ status: 200 });
  });

  test("[AUTH-5] H18: a token in the address is never taken, and never written down", async () => {
    const { token } = house.parts;
    for (const query of [`token=${token}`, `access_token=${token}`, `authorization=Bearer%20${token}`]) {
      expect((await callerOf(way)({ method: "GET", path: `/api/tabs?${query}` })).status).toBe(401);
      const path = `/api/tabs?${query}`;
      expect((await callerOf(way)({ method: "GET", path, headers: bearer() })).status).toBe(200);
    }
    expect(lines.join("")).toContain('"path":"/api/tabs"');
    expect(lines.join("")).not.toContain(token);
  });

  test("[AUTH-6] H18: a preflight of another site gets no permission, nor does any answer", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    for (const path of ["/api/tabs", "/api/sign-in", "/", "/api/health"]) {
      const reply = await callerOf(way)({ method: "OPTIONS", path, headers });
      expect(reply.status).toBe(403);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    const own = await callerOf(way)({ method: "OPTIONS", path: "/api/tabs", headers: bearer() });
    expect(own).toMatchObject({ status: 405, headers: { allow: "GET, POST" } });
    expect(own.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("[AUTH-7] H18: only JSON is taken as JSON: what a form can post is refused", async () => {
    const caller = callerOf(way);
    const device = { ...(await house.device(caller)), origin: caller.origin };
    const body = JSON.stringify({ cwd: house.project });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]) {
      const headers = { ...device, "content-type": type };
      const reply = await caller({ method: "POST", path: "/api/tabs", headers, body });
      expect(reply, type).toMatchObject({ status: 415, json: { error: { code: "type-refused" } } });
    }
    expect(house.parts.workspace.list()).toEqual([]);
  });

  test("[AUTH-8] every answer carries the headers that keep a page safe", async () => {
    const asked = [
      { method: "GET", path: "/", headers: { accept: "text/html" } },
      { method: "GET", path: "/api/tabs" },
      { method: "GET", path: "/api/tabs", headers: bearer() },
      { method: "GET", path: "/api/health" },
      { method: "GET", path: "/nowhere" },
      { method: "PUT", path: "/api/tabs", headers: bearer() },
    ];
    for (const request of asked) {
      const { headers } = await callerOf(way)(request);
      expect(headers, request.path).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
      const policy = headers["content-security-policy"] ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
    }
  });

  test("[AUTH-9] only health needs neither a token nor a device", async () => {
    expect(await callerOf(way)({ method: "GET", path: "/api/health" })).toMatchObject({
      status: 200,
      json: { ok: true, version: "0.0.0", build: "test-build" },
    });
    expect((await callerOf(way)({ method: "GET", path: "/health" })).status).toBe(200);
    for (const path of ["/api/metrics", "/metrics", "/api/openapi.json", "/openapi.json", "/api/me", "/api/nowhere"]) {
      expect((await callerOf(way)({ method: "GET", path })).status, path).toBe(401);
      expect((await callerOf(way)({ method: "GET", path, headers: bearer() })).status, path).toBe(
        path === "/api/nowhere" ? 404 : 200,
      );
    }
  });
});
