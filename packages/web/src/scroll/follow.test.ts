import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { END_SLACK_PX, firstVisible, followsAfterScroll, pagingWish, pillText } from "./follow.ts";

const place = (top: number, height = 1000, viewport = 400) => ({ top, height, viewport });

describe("following the end", () => {
  test.each([
    ["goes on at the end", true, 600, 600, true],
    ["begins when the end is reached", false, 500, 600 - END_SLACK_PX, true],
    ["stops when the person scrolls up", true, 600, 500, false],
    ["does not stop because text grew below", true, 500, 500, true],
    ["does not begin on the way down", false, 300, 400, false],
    ["does not stop while it catches up", true, 400, 500, true],
  ])("%s", (_name, follows, lastTop, top, expected) => {
    expect(followsAfterScroll(follows, lastTop, place(top))).toBe(expected);
  });

  test("a text that fits is always at its end", () => {
    expect(followsAfterScroll(false, 0, place(0, 300, 400))).toBe(true);
  });
});

describe("paging", () => {
  const window = { lo: 50, attached: true, paging: null };
  test.each([
    ["older near the top", place(100, 5000), window, "older"],
    ["nothing in the middle", place(2000, 5000), window, null],
    ["nothing older before the first row", place(0, 5000), { ...window, lo: 1 }, null],
    ["nothing in an empty tab", place(0, 400), { ...window, lo: 0 }, null],
    ["newer near the lower edge of a detached window", place(4500, 5000), { ...window, attached: false }, "newer"],
    ["nothing newer when attached", place(4500, 5000), window, null],
    ["nothing while a page is on its way", place(0, 5000), { ...window, paging: "older" as const }, null],
  ])("%s", (_name, at, held, expected) => {
    expect(pagingWish(at, held)).toBe(expected);
  });
});

test("the first visible row is the first that reaches below the edge", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 })), fc.integer({ min: 0, max: 2000 }), (heights, edge) => {
      const bottoms = heights.map((_, index) => heights.slice(0, index + 1).reduce((sum, height) => sum + height, 0));
      const found = firstVisible(bottoms.length, (index) => bottoms[index] ?? 0, edge);
      expect(found).toBe(bottoms.findIndex((bottom) => bottom > edge));
    }),
  );
});

test.each([
  [true, true, 5, null],
  [false, true, 0, "To the end"],
  [false, true, 1, "1 new"],
  [false, true, 12, "12 new"],
  [true, false, 3, "3 new"],
])("the pill (at the end %s, attached %s, %d new) says %j", (atEnd, attached, fresh, expected) => {
  expect(pillText(atEnd, attached, fresh)).toBe(expected);
});
