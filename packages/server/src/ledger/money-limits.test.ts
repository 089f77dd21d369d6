import type { TabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { askedLimit, bindingLimit, type Cost, type LimitedTab, type LimitInput, spendingOf } from "./money-limits.ts";
import { childrenOf, familyOf, lineageOf } from "./tab-tree.ts";

const id = (text: string) => text as TabId;
type Sketch = readonly [name: string, parent: string | null, price: number, limits?: LimitedTab["limits"]];

function input(sketches: readonly Sketch[], more: Partial<LimitInput> = {}): LimitInput {
  const tabs = sketches.map(([name, parent, , limits = {}]) => {
    return [id(name), { id: id(name), parentId: parent === null ? null : id(parent), limits }] as const;
  });
  const costs = new Map(sketches.map(([name, , price]) => [id(name), { price, unpriced: 1 } satisfies Cost]));
  return {
    tabs: new Map(tabs),
    costOf: (tab) => costs.get(tab) ?? { price: 0, unpriced: 0 },
    today: { price: 7, unpriced: 2 },
    todayFrom: 86_400_000,
    dayMoneyMax: null,
    stepsMax: 200,
    ...more,
  };
}

const family: readonly Sketch[] = [
  ["top", null, 1],
  ["child", "top", 2],
  ["grandchild", "child", 4],
  ["sister", "top", 8],
  ["stranger", null, 16],
];

describe("the tree of tabs", () => {
  test("a family is a tab with all below it, a lineage a tab with all above it", () => {
    const { tabs } = input(family);
    expect([...familyOf(tabs, id("child"))]).toEqual(["child", "grandchild"]);
    expect([...familyOf(tabs, id("top"))].toSorted()).toEqual(["child", "grandchild", "sister", "top"]);
    expect(lineageOf(tabs, id("grandchild")).map((tab) => tab.id)).toEqual(["grandchild", "child", "top"]);
    expect(childrenOf(tabs, id("top")).map((tab) => tab.id)).toEqual(["child", "sister"]);
    expect([lineageOf(tabs, id("nobody")), [...familyOf(tabs, id("nobody"))]]).toEqual([[], ["nobody"]]);
  });
  test("a ring, which nobody can make, ends all the same", () => {
    const { tabs } = input([
      ["a", "b", 1],
      ["b", "a", 1],
    ]);
    expect(lineageOf(tabs, id("a"))).toHaveLength(100);
    expect([...familyOf(tabs, id("a"))]).toEqual(["a", "b"]);
  });
});

describe("limits of money", () => {
  test.each<[string, readonly Sketch[], string, Partial<ReturnType<typeof bindingLimit>["spent"]> & { tab: string }]>([
    ["without one, the tab with its children", family, "child", { tab: "child", price: 6, max: null }],
    ["its own", [["top", null, 1, { moneyMax: 9 }]], "top", { tab: "top", price: 1, max: 9 }],
    [
      "that of a tab above, on all that family spent",
      [
        ["top", null, 1, { moneyMax: 9 }],
        ["child", "top", 2],
        ["sister", "top", 3],
      ],
      "child",
      { tab: "top", price: 6, max: 9 },
    ],
    [
      "the one with the least left, not the lowest one",
      [
        ["top", null, 1, { moneyMax: 9 }],
        ["child", "top", 2, { moneyMax: 7 }],
        ["sister", "top", 5],
      ],
      "child",
      { tab: "top", price: 8, max: 9 },
    ],
    [
      "the nearest of two with as little left",
      [
        ["top", null, 0, { moneyMax: 4 }],
        ["child", "top", 2, { moneyMax: 4 }],
      ],
      "child",
      { tab: "child", price: 2, max: 4 },
    ],
    [
      "one that is passed already before one that is not",
      [
        ["top", null, 9, { moneyMax: 4 }],
        ["child", "top", 2, { moneyMax: 3 }],
      ],
      "child",
      { tab: "top", price: 11, max: 4 },
    ],
  ])("%s", (_, sketches, tab, { tab: binding, ...spent }) => {
    expect(bindingLimit(input(sketches), id(tab))).toMatchObject({ tab: binding, spent });
  });

  test("what has no price is counted beside", () => {
    expect(bindingLimit(input(family), id("top")).spent.unpriced).toBe(4);
  });

  test.each<[string, readonly [number | undefined, number | undefined], number, number, string | null]>([
    ["it is the one that was asked about, though another has less left by now", [7, 15.5], 7, 9, "child"],
    ["asked again after it was raised, there is nothing to raise", [9, 20], 5, 9, null],
    ["changed meanwhile and still reached: that one", [6, 20], 5, 9, "child"],
    ["changed meanwhile and not reached: to what was wished, where that is more", [8, 20], 5, 9, "child"],
    ["changed meanwhile to more than was wished: nothing", [12, 20], 5, 9, null],
    ["the one above, when it was asked about", [9, 15], 15, 30, "top"],
    ["gone: nothing", [undefined, undefined], 5, 9, null],
  ])("which limit an answer raises: %s", (_, [own, above], max, raiseTo, expected) => {
    const tabs = family.map(([name, parent, price]): Sketch => {
      const moneyMax = name === "child" ? own : name === "top" ? above : undefined;
      return [name, parent, price, moneyMax === undefined ? {} : { moneyMax }];
    });
    const found = askedLimit(input(tabs), id("child"), { raiseTo, max });
    expect(found === null ? null : found.tab).toBe(expected);
  });

  test("a day's limit is the server's; steps are the tab's own, else everybody's", () => {
    const tabs: readonly Sketch[] = [
      ["a", null, 1, { stepsMax: 3 }],
      ["b", "a", 1],
    ];
    const more = { dayMoneyMax: 10 };
    expect(spendingOf(input(tabs, more), id("a"))).toEqual({
      tab: { price: 2, unpriced: 2, max: null },
      day: { price: 7, unpriced: 2, max: 10, from: 86_400_000 },
      stepsMax: 3,
    });
    expect(spendingOf(input(tabs, more), id("b")).stepsMax).toBe(200);
  });
});
