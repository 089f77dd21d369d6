import { tabOptionsPatchSchema, tabOptionsSchema } from "@varve/protocol/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { optionsOf, patchedOptions } from "./tab-options.ts";

describe("options of a tab", () => {
  test.each([
    ["nothing", {}, {}],
    ["what it knows", { cacheTtl: "1h", moneyMax: 2, stepsMax: 5 }, { cacheTtl: "1h", moneyMax: 2, stepsMax: 5 }],
    ["a word of a later Varve", { cacheTtl: "24h", moneyMax: 2 }, { moneyMax: 2 }],
    ["a field of a later Varve", { moneyMax: 2, colour: "red" }, { moneyMax: 2 }],
    ["what never was legal", { moneyMax: -1, stepsMax: 1.5, keepWarm: { on: true } }, {}],
  ])("[TAB-104] stored: %s", (_, stored, expected) => {
    expect(optionsOf(stored)).toEqual(expected);
  });

  test.each([
    ["sets one", {}, { moneyMax: 1 }, { moneyMax: 1 }],
    ["leaves the others", { stepsMax: 5 }, { moneyMax: 1 }, { stepsMax: 5, moneyMax: 1 }],
    ["takes one back", { stepsMax: 5, moneyMax: 1 }, { stepsMax: null }, { moneyMax: 1 }],
    ["takes back what is not there", {}, { stepsMax: null }, {}],
    ["leaves what it does not know", { colour: "red" }, { moneyMax: 1 }, { colour: "red", moneyMax: 1 }],
    ["sets undefined", { stepsMax: 5 }, { stepsMax: undefined }, { stepsMax: 5 }],
  ])("[TAB-104] a patch %s", (_, stored, patch, expected) => {
    expect(patchedOptions(stored, tabOptionsPatchSchema.parse(patch))).toEqual(expected);
  });

  test("[TAB-104] whatever legal options are put are read back", () => {
    const option = fc.record(
      {
        cacheTtl: fc.constantFrom("5m" as const, "1h" as const),
        moneyMax: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
        stepsMax: fc.integer({ min: 1, max: 10_000 }),
        keepWarm: fc.record({ on: fc.boolean(), countMax: fc.integer({ min: 1, max: 50 }), moneyMax: fc.constant(1) }),
        autoCompact: fc.record({ on: fc.boolean(), share: fc.double({ min: 0.3, max: 0.95, noNaN: true }) }),
        sendAfterRestart: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(option, option, (first, second) => {
        const stored = patchedOptions(patchedOptions({}, first), second);
        expect(optionsOf(stored)).toEqual({ ...first, ...second });
        expect(tabOptionsSchema.parse(stored)).toEqual({ ...first, ...second });
      }),
    );
  });
});
