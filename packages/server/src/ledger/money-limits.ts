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
  /** The first millisecond of today. */
  readonly todayFrom: number;
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

const limitedOf = (input: LimitInput, tab: TabId): readonly BindingLimit[] =>
  lineageOf(input.tabs, tab).flatMap(({ id, limits }): readonly BindingLimit[] =>
    limits.moneyMax === undefined ? [] : [{ tab: id, spent: { ...familyCost(input, id), max: limits.moneyMax } }],
  );
const left = ({ spent }: BindingLimit): number => (spent.max ?? Number.POSITIVE_INFINITY) - spent.price;
const leastOf = ([first, ...others]: readonly BindingLimit[]): BindingLimit | undefined =>
  first && others.reduce((least, next) => (left(next) < left(least) ? next : least), first);

/**
 * Of the limits of the tab and of those above it, each on what that tab spent with all its children, the one with the least
 * left; of equal ones the nearest. Without any: the tab itself, without a limit.
 */
export function bindingLimit(input: LimitInput, tab: TabId): BindingLimit {
  return leastOf(limitedOf(input, tab)) ?? { tab, spent: { ...familyCost(input, tab), max: null } };
}

/**
 * The limit that a question was about, which had that `max`: since then others may have less left. Where none is as high any
 * more, it was changed meanwhile: then the one that is reached now, or the tab's own if it is lower than what is wished. Null:
 * nothing holds the turn back.
 */
export function askedLimit(
  input: LimitInput,
  tab: TabId,
  { raiseTo, max }: { readonly raiseTo: number; readonly max: number },
): BindingLimit | null {
  const limited = limitedOf(input, tab);
  const same = leastOf(limited.filter(({ spent }) => spent.max === max));
  if (same !== undefined) return same;
  const least = leastOf(limited);
  if (least !== undefined && left(least) <= 0) return least;
  return limited.find((one) => one.tab === tab && (one.spent.max ?? raiseTo) < raiseTo) ?? null;
}

export const spendingOf = (input: LimitInput, tab: TabId): Spending => ({
  tab: bindingLimit(input, tab).spent,
  day: { ...input.today, max: input.dayMoneyMax, from: input.todayFrom },
  stepsMax: input.tabs.get(tab)?.limits.stepsMax ?? input.stepsMax,
});
