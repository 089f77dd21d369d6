import { encode } from "uqr";
import { describe, expect, test } from "vitest";
import { deviceName, isLoopback, isTokenName, linkLeft, linksForOthers, tokenFacts } from "./access-words.ts";
import { qrPath } from "./qr-path.ts";

describe("devices", () => {
  test.each([
    [
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0 Safari/537.36",
      "Chrome on Linux",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iPhone",
    ],
    ["Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/143.0 Safari/537.36 Edg/143.0", "Edge on Windows"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/18.0 Safari/605.1", "Safari on macOS"],
    ["Mozilla/5.0 (Something)", "A browser"],
    ["The phone in the kitchen", "The phone in the kitchen"],
    ["", "A device"],
  ])("%j is called %j", (label, name) => {
    expect(deviceName(label)).toBe(name);
  });
});

describe("links for other machines", () => {
  test.each([
    ["http://127.0.0.1:4477/#code=x", true],
    ["http://127.9.9.9/", true],
    ["http://localhost:1/", true],
    ["http://varve.localhost/", true],
    ["http://[::1]:4477/", true],
    ["http://[::ffff:127.0.0.1]/", true],
    ["http://192.168.1.7:4477/", false],
    ["https://varve.example/", false],
    ["http://127.0.0.1.example/", false],
    ["http://localhost.example/", false],
  ])("%s leads to its own machine: %j", (url, own) => {
    expect(isLoopback(url)).toBe(own);
  });

  test("are those that lead elsewhere, each once", () => {
    const url = "http://localhost:1/#code=x";
    expect(linksForOthers({ url, others: [] })).toEqual([]);
    expect(linksForOthers({ url, others: ["http://10.0.0.2:1/#code=x", "http://10.0.0.2:1/#code=x"] })).toEqual([
      "http://10.0.0.2:1/#code=x",
    ]);
    expect(linksForOthers({ url: "https://a.example/#code=x", others: [] })).toEqual(["https://a.example/#code=x"]);
  });

  test("say how long they work, and when no more", () => {
    expect(linkLeft(900_000, 0)).toBe("Works once, within 15 minutes.");
    expect(linkLeft(900_000, 840_001)).toBe("Works once, within a minute.");
    expect(linkLeft(900_000, 900_000)).toBeNull();
  });
});

describe("tokens", () => {
  test("that were never used or never end say so, and none says more than its last four", () => {
    const token = { id: "t", name: "ci", lastFour: "x3Fa", createdAt: 0, usedAt: null, expiresAt: null };
    const facts = tokenFacts(token, 1000);
    expect(facts).toContain("…x3Fa");
    expect(facts).toContain("never used");
    expect(facts).toContain("does not expire");
    expect(tokenFacts({ ...token, usedAt: 5, expiresAt: 900 }, 1000)).toMatch(/last used .* · expired /);
  });

  test.each([
    ["ci", true],
    ["nightly.job-2", true],
    ["", false],
    ["-x", false],
    ["two words", false],
    ["x".repeat(41), false],
  ])("%j can be a name: %j", (name, can) => {
    expect(isTokenName(name)).toBe(can);
  });
});

describe("the QR code", () => {
  test("its path covers the dark squares, each once", () => {
    const { data } = encode("https://varve.example/#code=abcdefghijklmnopqrstuvwxyz0123456789", { border: 3 });
    const drawn = data.map((row) => row.map(() => 0));
    for (const [, x, y, width] of qrPath(data).matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) {
      const row = drawn[Number(y)] ?? [];
      for (let at = Number(x); at < Number(x) + Number(width); at++) row[at] = (row[at] ?? 0) + 1;
    }
    expect(drawn).toEqual(data.map((row) => row.map((dark) => (dark ? 1 : 0))));
    expect(qrPath([])).toBe("");
  });
});
