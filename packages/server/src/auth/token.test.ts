import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getuid } from "node:process";
import { isFault } from "@varve/protocol";
import { createPrng } from "@varve/sim";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../testing/house.ts";
import { loadToken, readToken } from "./token.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const random = (into: Uint8Array<ArrayBuffer>): void => createPrng(3).fill(into);

describe("the token of a home", () => {
  test("[AUTH-17] it is made once, in a file that only its owner can read", async () => {
    const path = join(home, "deep", "token");
    expect(await readToken(path, undefined)).toBeNull();
    const token = await loadToken(path, { given: undefined, random });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await loadToken(path, { given: undefined, random: () => undefined })).toBe(token);
    expect(await readToken(path, "")).toBe(token);
  });

  test("[AUTH-17] one that is given wins, is never written, and must be worth something", async () => {
    const path = join(home, "token");
    const given = "a-long-enough-secret";
    expect(await loadToken(path, { given, random })).toBe(given);
    expect(() => readFileSync(path)).toThrow();
    for (const weak of [
      "short",
      "has spaces in its middle",
      "no-header-carries-\u00e9",
      "\u{1f600}".repeat(9),
      "a".repeat(1_001),
    ]) {
      expect(isFault(await loadToken(path, { given: weak, random }))).toBe(true);
    }
  });

  test("[AUTH-17] a file that says nothing is replaced, one that cannot be read is a fault", async () => {
    const path = join(home, "token");
    for (const useless of ["\n", "too-short\n", "words that no header carries\n", "a".repeat(1_001)]) {
      writeFileSync(path, useless, { mode: 0o644 });
      expect(await loadToken(path, { given: undefined, random })).toMatch(/^[\w-]{43}$/);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    rmSync(path);
    mkdirSync(path);
    expect(await loadToken(path, { given: undefined, random })).toMatchObject({ code: "log-unavailable" });
  });

  test.skipIf(getuid?.() === 0)("[AUTH-17] without the right to read it there is no start", async () => {
    const path = join(home, "token");
    writeFileSync(path, "a-long-enough-secret\n");
    chmodSync(path, 0o000);
    expect(await loadToken(path, { given: undefined, random })).toMatchObject({ code: "log-unavailable" });
  });
});
