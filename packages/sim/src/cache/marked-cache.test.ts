import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CacheBlock, Ttl } from "./cache-model.ts";
import { createCacheModel } from "./marked-cache.ts";

/** `"a b* c1"`: blocks of 4 characters (one token); `*` marks for 5 min, `1` for 1 h. */
function blocks(text: string): readonly CacheBlock[] {
  return text.split(" ").map((word) => {
    const mark = word.at(-1);
    const ttl: Ttl | null = mark === "*" ? "5m" : mark === "1" ? "1h" : null;
    return { text: word.replace(/[*1]$/, "").padEnd(4), ttl };
  });
}

function run(requests: readonly (readonly [string, number])[]) {
  const cache = createCacheModel();
  return requests.map(([text, minute]) => {
    const { read, write5m, write1h, fresh } = cache.account({
      scope: "m",
      blocks: blocks(text),
      nowMs: minute * 60_000,
    });
    return [read, write1h, write5m, fresh];
  });
}

describe("reads and writes in tokens: [read, 1 h write, 5 min write, fresh]", () => {
  test("[SIM-8] only marked blocks are written, and only written ones are read", () => {
    expect(
      run([
        ["a b* c", 0],
        ["a b* c d*", 0],
        ["a b c*", 0],
      ]),
    ).toEqual([
      [0, 0, 2, 1],
      [2, 0, 2, 0],
      [2, 0, 1, 0],
    ]);
  });

  test("a change in the middle reads up to the last mark before it", () => {
    expect(
      run([
        ["s* a b*", 0],
        ["s* x b*", 0],
      ]),
    ).toEqual([
      [0, 0, 3, 0],
      [1, 0, 2, 0],
    ]);
  });

  test("an entry lives five minutes or an hour from the last request that used it", () => {
    expect(
      run([
        ["a*", 0],
        ["a*", 4],
        ["a*", 8],
        ["a*", 13],
      ]).map(([read]) => read),
    ).toEqual([0, 1, 1, 0]);
    expect(
      run([
        ["a1", 0],
        ["a1", 59],
        ["a1", 119],
      ]).map(([read]) => read),
    ).toEqual([0, 1, 0]);
  });

  test("1 h marks are billed up to the last of them, 5 min marks behind it", () => {
    expect(run([["a1 b* c", 0]])).toEqual([[0, 1, 1, 1]]);
  });

  test("[SIM-16] a mark looks at twenty blocks, its own counting as the first", () => {
    const more = (count: number) => ["a*", ...Array.from({ length: count }, (_, at) => `x${at}x`)].join(" ");
    expect(
      run([
        ["a*", 0],
        [`${more(19).replace("a*", "a")}*`, 0],
      ]).at(-1)?.[0],
    ).toBe(1);
    expect(
      run([
        ["a*", 0],
        [`${more(20).replace("a*", "a")}*`, 0],
      ]).at(-1)?.[0],
    ).toBe(0);
  });

  test("another scope shares nothing", () => {
    const cache = createCacheModel();
    cache.account({ scope: "m", blocks: blocks("a*"), nowMs: 0 });
    expect(cache.account({ scope: "n", blocks: blocks("a*"), nowMs: 0 }).read).toBe(0);
  });
});

test("[SIM-8] the four figures always add up to the input", () => {
  const block = fc.record({ text: fc.string(), ttl: fc.constantFrom<Ttl | null>(null, "5m", "1h") });
  fc.assert(
    fc.property(fc.array(fc.array(block, { maxLength: 30 }), { maxLength: 6 }), (requests) => {
      const cache = createCacheModel();
      for (const [nowMs, list] of requests.entries()) {
        const { read, write5m, write1h, fresh } = cache.account({ scope: "", blocks: list, nowMs });
        const all = list.reduce((sum, { text }) => sum + Math.ceil(text.length / 4), 0);
        expect(read + write5m + write1h + fresh).toBe(all);
        expect(Math.min(read, write5m, write1h, fresh)).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
