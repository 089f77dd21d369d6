/** What a browser is told it may do with each kind of answer. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller, Request } from "./testing/call.ts";
import { type House, openHouse, temporaryFolder } from "./testing/house.ts";
import { jpeg, png, webp } from "./testing/pictures.ts";

let house: House;
let caller: Caller;
let tab: string;
const webRoot = temporaryFolder();
const log = memoryLog();

beforeAll(async () => {
  mkdirSync(join(webRoot, "assets"));
  writeFileSync(join(webRoot, "index.html"), "<!doctype html><title>Varve</title>");
  writeFileSync(join(webRoot, "assets", "page.js"), "export {};");
  writeFileSync(join(webRoot, "assets", "page.css"), "a{}");
  writeFileSync(join(webRoot, "icon.svg"), "<svg/>");
  house = await openHouse({ webRoot, log });
  caller = await house.listen();
  tab = (await house.tab()).id;
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  rmSync(webRoot, { recursive: true, force: true });
});

const bearer = () => ({ authorization: `Bearer ${house.parts.token}` });

/** A policy as its directives. */
function policyOf(text: string | undefined): ReadonlyMap<string, readonly string[]> {
  const directives = (text ?? "").split(";").map((part) => part.trim().split(/\s+/));
  return new Map(directives.map(([name = "", ...values]) => [name, values]));
}
const always = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

describe("the page's own files", () => {
  test.each([["/"], ["/index.html"], ["/deep/link"], ["/assets/page.js"], ["/assets/page.css"], ["/icon.svg"]])(
    "[AUTH-8] %s runs and loads what this server serves, and nothing else",
    async (path) => {
      const { status, headers } = await caller({ method: "GET", path, headers: { accept: "text/html" } });
      expect(status).toBe(200);
      expect(headers).toMatchObject(always);
      const policy = policyOf(headers["content-security-policy"]);
      expect(policy.get("default-src")).toEqual(["'none'"]);
      expect(policy.get("script-src")).toEqual(["'self'"]);
      for (const name of ["base-uri", "form-action", "frame-ancestors"])
        expect(policy.get(name), name).toEqual(["'none'"]);
      const allowed = new Set([...policy.values()].flat());
      // No inline script or style, no eval, no other host, no wildcard; images may be data that the page itself made.
      expect([...allowed].toSorted()).toEqual(["'none'", "'self'", "blob:", "data:"]);
      for (const [name, values] of policy) {
        if (name !== "img-src")
          expect(
            values.some((value) => value.endsWith(":")),
            name,
          ).toBe(false);
      }
      // Frames, plugins and media fall back to nothing.
      for (const name of ["frame-src", "child-src", "object-src", "media-src"]) expect(policy.has(name)).toBe(false);
    },
  );
});

describe("everything else", () => {
  const asked: readonly (readonly [string, () => Request, number])[] = [
    ["an answer", () => ({ method: "GET", path: "/api/tabs", headers: bearer() }), 200],
    ["health", () => ({ method: "GET", path: "/health" }), 200],
    ["metrics", () => ({ method: "GET", path: "/metrics", headers: bearer() }), 200],
    ["the document", () => ({ method: "GET", path: "/openapi.json", headers: bearer() }), 200],
    ["a refusal at the door", () => ({ method: "GET", path: "/api/tabs" }), 401],
    ["a foreign host", () => ({ method: "GET", path: "/", headers: { host: "evil.example" } }), 403],
    ["a foreign origin", () => ({ method: "GET", path: "/", headers: { origin: "http://evil.example" } }), 403],
    ["an address of nothing", () => ({ method: "GET", path: "/api/nowhere", headers: bearer() }), 404],
    ["a file of nothing", () => ({ method: "GET", path: "/nowhere.js" }), 404],
    ["a path that leads out", () => ({ method: "GET", path: "/assets/..%2f..%2fetc/passwd" }), 404],
    ["a wrong method", () => ({ method: "PUT", path: "/api/tabs", headers: bearer() }), 405],
    ["a wrong method on the page", () => ({ method: "POST", path: "/", headers: bearer() }), 405],
    [
      "no JSON",
      () => ({
        method: "POST",
        path: "/api/tabs",
        headers: { ...bearer(), "content-type": "application/json" },
        body: "{",
      }),
      400,
    ],
    [
      "a form",
      () => ({ method: "POST", path: "/api/tabs", headers: { ...bearer(), "content-type": "text/plain" }, body: "{}" }),
      415,
    ],
    ["a wrong code", () => ({ method: "POST", path: "/api/sign-in", body: { code: "x" } }), 401],
    ["a good code", () => ({ method: "POST", path: "/api/sign-in", body: { code: house.parts.codes.make() } }), 200],
    ["an unknown tab", () => ({ method: "GET", path: "/api/tabs/none", headers: bearer() }), 404],
    ["rows", () => ({ method: "GET", path: `/api/tabs/${tab}/chunks`, headers: bearer() }), 200],
    ["an unknown file", () => ({ method: "GET", path: `/api/blobs/${"0".repeat(64)}`, headers: bearer() }), 404],
  ];
  test.each(asked)("[AUTH-8] %s runs nothing, wherever it is opened", async (_what, made, status) => {
    const { headers, ...answer } = await caller(made());
    expect(answer.status, answer.text).toBe(status);
    expect(headers).toMatchObject(always);
    const policy = policyOf(headers["content-security-policy"]);
    expect(Object.fromEntries(policy)).toEqual({
      "default-src": ["'none'"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
      sandbox: [],
    });
    expect(headers["cache-control"]).toBe("no-store");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers["content-type"]).not.toMatch(/html|svg|javascript/);
  });

  test("[AUTH-8] a stream too", async () => {
    const answer = await fetch(`${caller.origin}/api/tabs/${tab}/events`, { headers: bearer() });
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'.+ sandbox$/);
    for (const [name, value] of Object.entries(always)) expect(answer.headers.get(name), name).toBe(value);
    await answer.body?.cancel();
  });
});

describe("files that a tool, a model or a person brought", () => {
  test.each([
    ["image/png", "image/png", "inline"],
    ["image/jpeg", "image/jpeg", "inline"],
    ["image/webp", "image/webp", "inline"],
    ["IMAGE/PNG; charset=x", "image/png", "inline"],
    ["image/svg+xml", "application/octet-stream", "attachment"],
    ["IMAGE/SVG+XML", "application/octet-stream", "attachment"],
    ["image/svg", "application/octet-stream", "attachment"],
    ["text/html", "application/octet-stream", "attachment"],
    ["application/xhtml+xml", "application/octet-stream", "attachment"],
    ["text/xml", "application/octet-stream", "attachment"],
    ["application/pdf", "application/octet-stream", "attachment"],
    ["text/javascript", "application/octet-stream", "attachment"],
    ["text/css", "application/octet-stream", "attachment"],
    ["application/x-shockwave-flash", "application/octet-stream", "attachment"],
    ["multipart/related", "application/octet-stream", "attachment"],
    ["message/rfc822", "application/octet-stream", "attachment"],
  ])("[AUTH-40] %s is handed over as %s, %s, in a sandbox", async (type, shown, disposition) => {
    const picture = type === "image/jpeg" ? jpeg : type === "image/webp" ? webp : png;
    const body = Buffer.concat([picture, Buffer.from(`<svg onload=alert(1)>${type}`)]);
    const stored = await caller({
      method: "POST",
      path: "/api/blobs",
      headers: { ...bearer(), "content-type": type },
      body,
    });
    expect(stored.status, stored.text).toBe(201);
    const hash = String(Reflect.get(Object(stored.json), "blob"));
    await expectShown(hash, shown, disposition);
  });

  test.each([
    ["image/gif", "image/gif", "inline"],
    ["image/x-icon", "application/octet-stream", "attachment"],
    ["image/tiff", "application/octet-stream", "attachment"],
  ])("[AUTH-40] %s that was kept before is handed over as %s, %s, in a sandbox", async (type, shown, disposition) => {
    const entry = await log.blobs.put(Buffer.from(`<svg onload=alert(1)>${type}`), type);
    if (isFault(entry)) throw new Error(entry.message);
    await expectShown(entry.blob, shown, disposition);
  });

  async function expectShown(hash: string, shown: string, disposition: string): Promise<void> {
    const { headers } = await caller({ method: "GET", path: `/api/blobs/${hash}`, headers: bearer() });
    expect(headers).toMatchObject({ ...always, "content-type": shown, "content-disposition": disposition });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'.+ sandbox$/);
    expect(headers["cache-control"]).toContain("private");
  }
});
