/** What a turn may still spend, and whose limit it is that ends first. Pure. */
import type { Spending, Spent } from "@varve/agent";
import type { TabId, TabOptions } from "@varve/protocol";
import { familyOf, lineageOf, type Tree, type TreeNode } from "./tab-tree.ts";

export interface LimitedTab extends TreeNode {
  readonly limits: Pick<TabOptions, "moneyMax" | "stepsMax">;
}
export interface Cost {
  readonly price: number;
  readonly unpriced: number;
}
export interface LimitInput {
  readonly tabs: Tree<LimitedTab>;
  /** Of one tab alone. */
  readonly costOf: (tab: TabId) => Cost;
  readonly today: Cost;
  readonly dayMoneyMax: number | null;
  /** Where the tab sets none. */
  readonly stepsMax: number;
}

export interface BindingLimit {
  readonly tab: TabId;
  readonly spent: Spent;
}

export const addedCosts = (costs: Iterable<Cost>): Cost => {
  let [price, unpriced] = [0, 0];
  for (const cost of costs) {
    price += cost.price;
    unpriced += cost.unpriced;
  }
  return { price, unpriced };
};

export const familyCost = ({ tabs, costOf }: Pick<LimitInput, "tabs" | "costOf">, tab: TabId): Cost =>
  addedCosts([...familyOf(tabs, tab)].map(costOf));

/**
 * Of the limits of the tab and of those above it, each on what that tab spent with all its children, the one with the least
 * left; of equal ones the nearest. Without any: the tab itself, without a limit.
 */
export function bindingLimit(input: LimitInput, tab: TabId): BindingLimit {
  const limited = lineageOf(input.tabs, tab).flatMap(({ id, limits }): readonly BindingLimit[] =>
    limits.moneyMax === undefined ? [] : [{ tab: id, spent: { ...familyCost(input, id), max: limits.moneyMax } }],
  );
  const left = ({ spent }: BindingLimit): number => (spent.max ?? Number.POSITIVE_INFINITY) - spent.price;
  const own: BindingLimit = { tab, spent: { ...familyCost(input, tab), max: null } };
  return limited.reduce((least, next) => (left(next) < left(least) ? next : least), limited[0] ?? own);
}

export const spendingOf = (input: LimitInput, tab: TabId): Spending => ({
  tab: bindingLimit(input, tab).spent,
  day: { ...input.today, max: input.dayMoneyMax },
  stepsMax: input.tabs.get(tab)?.limits.stepsMax ?? input.stepsMax,
});
