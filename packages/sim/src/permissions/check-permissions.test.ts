/** The short form of `npm run soak -- permissions`. Without bubblewrap it is left out, and says so. */
import type { Decide } from "@varve/agent";
import { describe, expect, test } from "vitest";
import { checkAllowed, checkWords } from "./check-permissions.ts";
import { whyNoRuns } from "./stub-runs.ts";

const runs = 60;
const missing = whyNoRuns();
if (missing !== null) console.warn(`skipped: ${4 * runs} commands that would really be run, because ${missing}`);

/** What a matcher of patterns over the first words of a text would say. */
const byFirstWords: Decide = ({ subject: { command = "" } }, { rules }) => {
  const isNamed = rules.some(({ pattern = "" }) => command.startsWith(pattern.replace(/\*$/, "")));
  return { decision: isNamed ? "allow" : "ask" };
};

describe.skipIf(missing !== null)("really run", () => {
  test("[PERM-38] nothing that is allowed runs a program that no rule names", { timeout: 120_000 }, () => {
    const { allowed, asked, started, wrong } = checkAllowed({ seed: 1, runs });
    expect(wrong).toEqual([]);
    expect(allowed).toBe(runs);
    expect(asked).toBeGreaterThan(runs);
    expect(started).toBeGreaterThan(runs / 2);
  });

  test("[PERM-38] a judge that goes by the first words is caught", { timeout: 120_000 }, () => {
    expect(checkAllowed({ seed: 1, runs, judge: byFirstWords }).wrong.length).toBeGreaterThan(0);
  });

  test("[PERM-39] the words that are read are the words that programs get", { timeout: 120_000 }, () => {
    const { started, wrong } = checkWords({ seed: 1, runs: 2 * runs });
    expect(wrong).toEqual([]);
    expect(started).toBeGreaterThan(runs);
  });
});
