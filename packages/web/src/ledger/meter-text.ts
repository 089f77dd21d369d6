/** What the line at the head of a tab says. */
import type { ContextBody, LedgerSum, TabId, TabRecord } from "@varve/protocol";
import { countText } from "../tab/usage.ts";
import { addCost, type Cost } from "./money-text.ts";
import { shareText } from "./token-text.ts";

type Meter = ContextBody["meter"];

/** Tokens of the next request against the window; null before there is anything to measure. */
export function contextText({ tokens, estimated, window }: Meter): string | null {
  if (tokens === null) return null;
  const used = `${estimated ? "about " : ""}${countText(tokens)}`;
  return window === null ? `${used} tokens` : `${used} of ${countText(window)}`;
}

/** How much of what could be read was read; null before a second request, or where nobody told. */
export const cacheShare = (sum: Pick<LedgerSum, "attained" | "attainable">): string | null =>
  shareText(sum.attained, sum.attainable);

type Costing = Pick<TabRecord, "id" | "parentId" | "cost">;

/** What a tab cost, with its children and theirs as far as the list knows them. */
export function wholeCost(tabs: readonly Costing[], id: TabId): Cost {
  const own = tabs.find((tab) => tab.id === id)?.cost ?? { price: 0, unpriced: 0 };
  return tabs
    .filter((tab) => tab.parentId === id)
    .map((child) => wholeCost(tabs, child.id))
    .reduce(addCost, own);
}
