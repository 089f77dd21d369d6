import { expect, test } from "vitest";
import { median, quantile, rounded, thousandths } from "./statistics.ts";

test.each([
  [[3], 3],
  [[3, 1, 2], 2],
  [[10, 1, 2, 9], 5.5],
])("the median of %j is %d", (values, expected) => expect(median(values)).toBe(expected));

test("the median of nothing is no number", () => expect(median([])).toBeNaN());

test.each([
  [[5], 0.95, 5],
  [[4, 1, 3, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.51, 3],
  [[4, 1, 3, 2], 1, 4],
  [[4, 1, 3, 2], 0, 1],
])("of %j, the share %d stays within %d", (values, share, expected) => expect(quantile(values, share)).toBe(expected));

test("no share of nothing is a number", () => expect(quantile([], 0.5)).toBeNaN());

test("figures have one decimal", () => expect(rounded(1.26)).toBe(1.3));

test("ratios have three", () => expect(thousandths(0.98765)).toBe(0.988));
