/** Whole days against caches that keep the vendors' rules: every token that can be read is read. */
import { describe, expect, test } from "vitest";
import { cacheDay, type DayCall } from "./testing/cache-day.ts";

const minute = 60_000;

interface Profile {
  readonly model: string;
  /** How long an unused entry lives. */
  readonly lifeMs: number;
  /** What the vendor rounds a match down by, at most. */
  readonly step: number;
  readonly cache?: { readonly positions: "collapsed" };
}

const profiles: readonly (readonly [string, Profile])[] = [
  ["anthropic", { model: "anthropic/claude-opus-5-5", lifeMs: 5 * minute, step: 0 }],
  ["openai-responses", { model: "openai/gpt-5.6-sol", lifeMs: 30 * minute, step: 0 }],
  ["openai-responses before 5.6", { model: "openai/gpt-5.2", lifeMs: 5 * minute, step: 129 }],
  ["google", { model: "google/gemini-3.5-flash", lifeMs: 5 * minute, step: 0 }],
  ["deepseek", { model: "deepseek/deepseek-v4-pro", lifeMs: 120 * minute, step: 0 }],
  // Its newest breakpoint is the vendor's own, at the end: a burst of calls is bridged only where runs count as one position.
  [
    "openrouter",
    {
      model: "openrouter/anthropic/claude-opus-5.5",
      lifeMs: 5 * minute,
      step: 0,
      cache: { positions: "collapsed" },
    },
  ],
  ["mistral", { model: "openai-compatible/mistral-large-latest", lifeMs: Number.POSITIVE_INFINITY, step: 0 }],
  ["local", { model: "openai-compatible/qwen3.5:35b", lifeMs: Number.POSITIVE_INFINITY, step: 0 }],
];

/** What a client whose bytes never move reads at least: the whole request before, while its entry lives. */
function stableShortfalls(calls: readonly DayCall[], { lifeMs, step }: Profile): readonly string[] {
  return calls.flatMap((call, index) => {
    const before = calls.slice(0, index).findLast(({ tab, hasBegun }) => hasBegun && tab === call.tab);
    if (before === undefined || call.startedAtMs - before.startedAtMs >= lifeMs) return [];
    return call.read >= before.total - step
      ? []
      : [`call ${index} of tab ${call.tab}: ${call.read} of ${before.total}`];
  });
}

/** The long run of the simulation takes more of them. */
const seeds = process.env.SOAK === "1" ? [1, 2, 3, 4, 5, 6] : [1];
const dayMs = 240_000;

describe.each(profiles)("%s", (_name, profile) => {
  test.each(seeds)(
    "over a day with everything that happens, read / attainable is 1.000 (seed %i)",
    async (seed) => {
      const { calls, refusals, droppedThinking, halfCalls } = await cacheDay({ ...profile, seed });
      expect(refusals).toEqual([]);
      expect([droppedThinking, halfCalls]).toEqual([0, 0]);
      const sum = (of: (call: DayCall) => number): number => calls.reduce((total, call) => total + of(call), 0);
      const short = calls.filter(({ read, attainable }) => read !== attainable);
      expect(short).toEqual([]);
      expect(stableShortfalls(calls, profile)).toEqual([]);
      expect(sum(({ read }) => read)).toBeGreaterThan(sum(({ total }) => total) / 2);
      expect(calls.length).toBeGreaterThan(25);
    },
    dayMs,
  );
});
