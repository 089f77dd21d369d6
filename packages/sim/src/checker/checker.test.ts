import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ablations } from "./ablations.ts";
import { type CounterExample, exhaust, invariantOf, replay } from "./prove.ts";
import { rules } from "./rules.ts";
import { dailyScopes } from "./scopes.ts";

const folder = new URL("./counter-examples/", import.meta.url);
const stored = (rule: string): CounterExample =>
  JSON.parse(readFileSync(new URL(`${rule}.json`, folder), "utf8")) as CounterExample; // Written by the soak alone.

describe("every state, with all rules in force", () => {
  test.each(dailyScopes)("[SIM-33] $name", (scope) => {
    const { exhausted, violation, states } = exhaust(scope);
    expect(violation).toBeNull();
    expect(exhausted).toBe(true);
    expect(states).toBeGreaterThan(1000);
  });
});

describe("each rule is needed", () => {
  test("[SIM-34] every rule has a stored counter-example, and there is none of a rule that is gone", () => {
    const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));
    expect(names.sort()).toEqual(Object.keys(rules).sort());
    expect(ablations.map(({ rule }) => rule).sort()).toEqual(Object.keys(rules).sort());
  });
  test.each(ablations)(
    "[SIM-35] $rule: without it the stored trace breaks $breaks, with it nothing",
    ({ rule, breaks, scope }) => {
      const { trace, problem } = stored(rule);
      const without = replay(scope, trace, rule);
      expect(without).toBe(problem);
      expect(invariantOf(problem)).toBe(breaks);
      expect(replay(scope, trace, null)).toBeNull();
    },
  );
});
