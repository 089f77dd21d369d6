import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitsPath, fitsText, literally, mayFit, startOf } from "./pattern.ts";

describe("patterns", () => {
  test.each([
    ["npm test", "npm test", true],
    ["npm *", "npm run a/b", true],
    ["npm *", "npm", false],
    ["npm*", "npm", true],
    ["*test*", "npm run test:all", true],
    ["git ?", "git x", true],
    ["git ?", "git xy", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["", "", true],
    ["*", "", true],
    ["[a]", "a", false],
    ["a.c", "abc", false],
  ])("[PERM-20] text %j over %j: %s", (pattern, text, fits) => {
    expect(fitsText(pattern, text)).toBe(fits);
  });

  test.each([
    ["/ws/src/**", "/ws/src/a/b.ts", true],
    ["/ws/src/**", "/ws/src", true],
    ["/ws/src/*", "/ws/src/a/b.ts", false],
    ["/ws/src/*.ts", "/ws/src/a.ts", true],
    ["/ws/src/", "/ws/src/a/b", true],
    ["/ws/src", "/ws/src/a", false],
    ["**/.env", "/ws/a/.env", true],
    ["**/.env", "/.env", true],
    ["**/.env", "/ws/.env.local", false],
    ["**/.env*", "/ws/.env.local", true],
    ["/ws/**/x/**/y", "/ws/a/x/b/c/y", true],
    ["/ws/**/x/**/y", "/ws/a/b/c/y", false],
    ["/ws/src/**", "/ws/src-evil/a", false],
    ["*", "/ws/a", false],
  ])("[PERM-20] path %j over %j: %s", (pattern, path, fits) => {
    expect(fitsPath(pattern, path)).toBe(fits);
  });

  test("[PERM-20] it says what a regular expression says", () => {
    const letters = (...of: string[]) => fc.array(fc.constantFrom(...of), { maxLength: 8 }).map((all) => all.join(""));
    fc.assert(
      fc.property(letters("a", "b", "*", "?"), letters("a", "b"), (pattern, text) => {
        const same = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(text);
        expect(fitsText(pattern, text)).toBe(same);
      }),
    );
  });

  test("[PERM-21] a hostile pattern takes no long time", () => {
    const start = performance.now();
    expect(fitsText("*a".repeat(500), `${"a".repeat(20_000)}b`)).toBe(false);
    expect(fitsPath("**/*a*a*a*a*a*b/".repeat(30), `/${"a".repeat(200)}`.repeat(30))).toBe(false);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

const signs = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "\\", "/"), maxLength: 8 });

describe("texts as patterns", () => {
  test("[PERM-22] a text taken literally fits itself and nothing else", () => {
    fc.assert(
      fc.property(signs, signs, (text, other) => {
        const pattern = literally(text);
        expect(fitsText(pattern, text)).toBe(true);
        expect(fitsText(pattern, other)).toBe(other === text);
        expect(startOf(pattern)).toEqual({ text, isWhole: true, isOpen: false });
        expect(fitsPath(pattern, text)).toBe(true);
      }),
    );
  });

  test.each([
    ["git *", { text: "git ", isWhole: false, isOpen: true }],
    ["git ?x", { text: "git ", isWhole: false, isOpen: false }],
    ["a\\*b", { text: "a*b", isWhole: true, isOpen: false }],
    ["a\\*", { text: "a*", isWhole: true, isOpen: false }],
    ["a\\b", { text: "a\\b", isWhole: true, isOpen: false }],
  ])("[PERM-22] %j begins with %j", (pattern, start) => {
    expect(startOf(pattern)).toEqual(start);
  });

  test("[PERM-37] a start may fit just when some text that begins so fits", () => {
    fc.assert(
      fc.property(signs, signs, signs, (pattern, start, rest) => {
        if (fitsText(pattern, start + rest)) expect(mayFit(pattern, start)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    for (const [pattern, start] of [
      ["rm *", "rn"],
      ["rm", "rm "],
      ["a?c", "abd"],
      ["\\*", "a"],
    ] as const) {
      expect(mayFit(pattern, start)).toBe(false);
    }
  });
});
