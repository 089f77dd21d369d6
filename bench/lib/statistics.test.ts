import { expect, test } from "vitest";
import { median, rounded } from "./statistics.ts";

test.each([
  [[3], 3],
  [[3, 1, 2], 2],
  [[10, 1, 2, 9], 5.5],
])("the median of %j is %d", (values, expected) => expect(median(values)).toBe(expected));

test("the median of nothing is no number", () => expect(median([])).toBeNaN());

test("figures have one decimal", () => expect(rounded(1.26)).toBe(1.3));
