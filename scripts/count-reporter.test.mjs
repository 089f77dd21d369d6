import { describe, expect, test } from "vitest";
import { countLine, countRun } from "./lib/count-reporter.mjs";

const tests = (...states) => states.map((state) => ({ result: () => ({ state }) }));
const suite = (...errors) => ({ errors: () => errors });

function file({ states = [], suites = [], errors = [], state = "passed" }) {
  return {
    children: { allTests: () => tests(...states), allSuites: () => suites },
    errors: () => errors,
    state: () => state,
  };
}

describe("counting a test run", () => {
  test.each([
    [
      "one of each",
      [file({ states: ["passed", "failed", "skipped"], state: "failed" })],
      [],
      "1 passed, 1 failed, 1 skipped",
    ],
    [
      "a file that does not load",
      [file({ errors: [new Error("syntax")], state: "failed" })],
      [],
      "0 passed, 1 failed, 0 skipped",
    ],
    [
      "a suite whose hook fails",
      [file({ states: ["skipped"], suites: [suite(new Error("hook"))], state: "failed" })],
      [],
      "0 passed, 1 failed, 1 skipped",
    ],
    ["a failed file without a reason", [file({ state: "failed" })], [], "0 passed, 1 failed, 0 skipped"],
    [
      "an error that no test caught",
      [file({ states: ["passed"] })],
      [new Error("late")],
      "1 passed, 1 failed, 0 skipped",
    ],
  ])("%s", (_name, modules, unhandled, line) => {
    expect(countLine(countRun(modules, unhandled))).toBe(line);
  });
});
