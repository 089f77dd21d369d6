import { describe, expect, test } from "vitest";
import { createPrng } from "../prng.ts";
import { type Policy, policies, scoreOf, scoreSeeds } from "./policies.ts";
import { scriptedTabs } from "./scripted-tabs.ts";

const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);
const size = { tabs: 4, requests: 60 };
const grounds = [
  ["ordinary work, strict positions", { ...size, bursts: 0.05 }, "strict"],
  ["many bursts, strict positions", { ...size, bursts: 0.35 }, "strict"],
  ["many bursts, collapsed runs", { ...size, bursts: 0.35 }, "collapsed"],
] as const;

describe.each(grounds)("%s", (_name, options, positions) => {
  test.each(["S + T1 + T0", "S + T2 + T1 + T0"] as const)("[SIM-17] %s reads all that can be read", (name) => {
    for (const ttl of ["5m", "1h"] as const) {
      const score = scoreSeeds(seeds, options, { policy: policies[name], positions, ttl });
      expect([score.short, score.ratio, score.requests >= 2_400]).toEqual([0, 1, true]);
    }
  });

  test("the usual placements read less", () => {
    const ratio = (name: keyof typeof policies): number =>
      scoreSeeds(seeds.slice(0, 10), options, { policy: policies[name], positions }).ratio;
    expect(ratio("tail only")).toBeLessThan(1);
    expect(ratio("system and tail")).toBeLessThan(1);
    expect(ratio("tail only")).toBeLessThanOrEqual(ratio("system and tail"));
    if (positions === "strict") {
      expect(ratio("system and the last two messages")).toBeLessThan(1);
      expect(ratio("system and every 15 blocks")).toBeLessThan(1);
    }
  });
});

test("a short prefix is not kept and not attainable either", () => {
  const score = scoreSeeds(
    [1],
    { tabs: 1, requests: 3, bursts: 0 },
    { policy: policies["tail only"], minPrefixTokens: 1e6 },
  );
  expect([score.ratio, score.short]).toEqual([1, 0]);
});

test("[SIM-17] whatever is marked, nothing is read beyond what could be read", () => {
  for (const seed of seeds.slice(0, 20)) {
    const prng = createPrng(seed);
    const anywhere: Policy = (blocks) => Array.from({ length: 4 }, () => prng.int(0, blocks.length - 1));
    const positions = prng.chance(0.5) ? "strict" : "collapsed";
    const requests = scriptedTabs(createPrng(seed), { ...size, bursts: 0.2 });
    expect(scoreOf(requests, { policy: anywhere, positions }).beyond).toBe(0);
  }
});
