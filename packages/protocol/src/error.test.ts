import { expect, test } from "vitest";
import { errorStatus, fault, isFault } from "./error.ts";
import { AssertionFault, assert, unreachable } from "./unreachable.ts";

test("[ERROR-1] each code travels with the status of an error", () => {
  for (const [code, status] of Object.entries(errorStatus)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(status, code).toBeGreaterThanOrEqual(400);
    expect(status, code).toBeLessThan(600);
  }
});
test("[ERROR-2] a fault is a value with code and message, and a hint only when there is one", () => {
  expect(fault("disk-full", "The disk is full.")).toEqual({
    kind: "fault",
    code: "disk-full",
    message: "The disk is full.",
  });
  expect(fault("disk-full", "The disk is full.", "Free some.")).toHaveProperty("hint", "Free some.");
});
test.each([
  [fault("internal", "x"), true],
  [null, false],
  [undefined, false],
  ["fault", false],
  [{ kind: "applied" }, false],
  [{ code: "internal", message: "x" }, false],
])("[ERROR-2] %j is a fault: %s", (value, expected) => {
  expect(isFault(value)).toBe(expected);
});
test("[ERROR-3] an assertion that does not hold throws an AssertionFault with its words", () => {
  expect(() => assert(false, "seq is dense")).toThrow(AssertionFault);
  expect(() => assert(false, "seq is dense")).toThrow("seq is dense");
  expect(() => assert(true, "fine")).not.toThrow();
});
test("[ERROR-3] a variant that the compiler did not know is named when it comes", () => {
  // What a newer peer sends is outside of every type: that is the case the function is for.
  const value = JSON.parse('{"type":"new"}') as never;
  expect(() => unreachable(value)).toThrow('unreachable: {"type":"new"}');
});
