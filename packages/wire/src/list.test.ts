import { describe, expect, test } from "vitest";
import { JoinedList } from "./list.ts";

describe("two lists as one", () => {
  test.each([
    ["none", [], [], []],
    ["the first alone", [1, 2], [], [1, 2]],
    ["the second alone", [], [3], [3]],
    ["both", [1, 2], [3], [1, 2, 3]],
  ] as const)("[WIRE-80] read as an array, also when the first has grown behind it: %s", (_, first, second, all) => {
    const grows: number[] = [...first];
    const list = new JoinedList<number>(grows, second);
    for (const before of [true, false]) {
      const read = Array.from({ length: list.length }, (_one, index) => list.at(index));
      const back = Array.from({ length: list.length }, (_one, index) => list.at(-1 - index));
      expect([read, back.reverse(), list.toArray()]).toEqual([all, all, all]);
      expect([list.at(list.length), list.at(-1 - list.length)]).toEqual([undefined, undefined]);
      if (before) grows.push(8, 9);
    }
  });
});
