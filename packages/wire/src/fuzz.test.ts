/** The wire's promise over random logs, for every profile, through the real provider packages. */
import { wireProblemOf } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { adapters, fuzz, olderAdapters } from "./testing/fuzz.ts";

const none = { prefixViolations: [], invalid: [], warnings: [] };

/** A few seconds; many times that where other work takes the processor. */
const timeout = 180_000;

describe("fuzzed logs through the real adapters", () => {
  test.each([
    ...adapters.map((adapter) => [adapter.name, adapter, 200] as const),
    ...olderAdapters.map((adapter) => [adapter.name, adapter, 60] as const),
  ])(
    "[WIRE-1] [WIRE-25] B8: no prefix violation, no refused body, no warning: %s",
    { timeout },
    async (_, adapter, requests) => {
      const problem = wireProblemOf(adapter.target.profile);
      const { requests: made, compared, ...found } = await fuzz({ adapter, problem, seed: 20_261_130, requests });
      expect(found).toEqual(none);
      expect(made).toBeGreaterThanOrEqual(requests);
      expect(compared).toBeGreaterThan(made / 2);
    },
  );
});
