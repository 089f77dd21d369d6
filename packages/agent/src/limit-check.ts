/**
 * Whether a turn may make its next request, from its rows and what was spent. Pure: the same answer after a restart.
 *
 * A `go-on` lets the turn go as far again as the stretch that brought it to the question; a `raise` changes the limit itself,
 * which the owner has done before the answer is sealed. Whatever was answered, one request always gets through before the
 * same turn asks again.
 */
import type { LimitName, StoredRow } from "@varve/protocol";
import { requestsOf } from "./next.ts";
import type { Spending, Spent } from "./ports.ts";
import type { SystemRow } from "./turn-rows.ts";
import { isKind, isStepFinish, isStepRequest, openLimit } from "./turn-rows.ts";

export interface Reached {
  readonly limit: LimitName;
  /** Steps or US dollars; with `price-unknown` the requests without a price. */
  readonly used: number;
  readonly max: number;
}
export type LimitCheck =
  | { readonly kind: "free" }
  /** To be asked now. */
  | { readonly kind: "reached"; readonly reached: Reached }
  /** Asked, and not answered: before a restart, for example. */
  | { readonly kind: "open"; readonly asked: SystemRow<"limit"> }
  /** A person answered `stop`, and the turn has not ended yet. */
  | { readonly kind: "stop" };

export interface LimitInput {
  /** Rows of the turn. */
  readonly turn: readonly StoredRow[];
  readonly spending: Spending;
  /** Whether the model's prices are known. */
  readonly priced: boolean;
}

export function checkLimits({ turn, spending, priced }: LimitInput): LimitCheck {
  const asked = openLimit(turn);
  if (asked !== undefined) return { kind: "open", asked };
  const newest = turn.findLast((row) => isKind(row, "limit") || isStepRequest(row));
  if (newest !== undefined && isKind(newest, "limit") && newest.data.state === "answered") {
    return newest.data.choice === "stop" ? { kind: "stop" } : { kind: "free" };
  }
  const limits: readonly Reached[] = [
    { limit: "turn-steps", used: requestsOf(turn), max: spending.stepsMax },
    ...moneyLimit("tab-money", spending.tab),
    ...moneyLimit("day-money", spending.day),
  ];
  for (const limit of limits) {
    const from = limit.limit === "day-money" ? (spending.day.from ?? 0) : 0;
    const max = Math.max(limit.max, allowance(turn, limit.limit, from));
    if (limit.used >= max) return { kind: "reached", reached: { ...limit, max } };
  }
  const unknown = unknownPrice(turn, { spending, priced });
  return unknown === null ? { kind: "free" } : { kind: "reached", reached: unknown };
}

const moneyLimit = (limit: LimitName, spent: Spent): readonly Reached[] =>
  spent.max === null ? [] : [{ limit, used: spent.price, max: spent.max }];

/** A day's money is a matter of the clock, as the day itself is; nothing is put in order by it. */
const isSince = ({ createdAt: sealedAt }: StoredRow, from: number): boolean => sealedAt >= from;

/** How far the turn's answers to questions since `from` let it go, 0 without one. */
function allowance(turn: readonly StoredRow[], limit: LimitName, from: number): number {
  const rows = turn.flatMap((row) =>
    isKind(row, "limit") && row.data.limit === limit && isSince(row, from) ? [row.data] : [],
  );
  const questions = new Map(rows.flatMap((data) => (data.state === "asked" ? [[data.askId, data] as const] : [])));
  let begun = 0;
  let allowed = 0;
  for (const data of rows) {
    const question = questions.get(data.askId);
    if (data.state !== "answered" || data.choice !== "go-on" || question === undefined) continue;
    allowed = question.used + (question.max - begun);
    begun = question.used;
  }
  return allowed;
}

/** A money limit cannot be kept where prices are unknown: a person is told so, once in a turn. */
function unknownPrice(
  turn: readonly StoredRow[],
  { spending, priced }: Pick<LimitInput, "spending" | "priced">,
): Reached | null {
  const max = spending.tab.max ?? spending.day.max;
  if (max === null) return null;
  if (turn.some((row) => isKind(row, "limit") && row.data.limit === "price-unknown")) return null;
  const unpriced = turn.filter((row) => isStepFinish(row) && row.data.price === null).length;
  if (priced && unpriced === 0) return null;
  return { limit: "price-unknown", used: Math.max(unpriced, spending.tab.unpriced), max };
}
