import { describe, expect, test } from "vitest";
import { Chain } from "./canonical.ts";
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

describe("a chain that goes on where another ends", () => {
  test("[WIRE-27] has the links of its own beginning alone, whatever the other adds later", () => {
    const block = (json: string) => ({ role: "user", json }) as const;
    const first = new Chain();
    first.add(block("1"));
    const second = new Chain(first);
    second.add(block("2"));
    const links = second.links();
    first.add(block("3"));
    const foreign = first.at(-1) ?? "";
    expect(second.links()).toEqual(links);
    expect([second.length, second.at(0), second.at(1), second.at(-1), second.at(2)]).toEqual([
      2,
      links[0],
      links[1],
      links[1],
      undefined,
    ]);
    expect([
      second.lastIndexOf(links[0] ?? ""),
      second.lastIndexOf(links[1] ?? ""),
      second.lastIndexOf(foreign),
    ]).toEqual([0, 1, -1]);
  });
});
