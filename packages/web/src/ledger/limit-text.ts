/** The words of a limit that a turn came to. */
import type { LimitChoice, LimitName } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import { moneyText } from "./money-text.ts";

export interface LimitFacts {
  readonly limit: LimitName;
  readonly used: number;
  readonly max: number;
}

export const isMoney = (limit: LimitName): boolean => limit !== "turn-steps";
export const amountText = (limit: LimitName, amount: number): string =>
  isMoney(limit) ? moneyText(amount) : amount === 1 ? "1 step" : `${amount} steps`;

export const limitTitle: Readonly<Record<LimitName, string>> = {
  "turn-steps": "This turn has taken all the steps it may",
  "tab-money": "This tab has come to its money limit",
  "day-money": "Today’s money limit is reached",
  "price-unknown": "There is a money limit, but the price of this model is not known",
};

/** What was used, of how much, and what holds meanwhile. */
export function limitUsed({ limit, used, max }: LimitFacts): string {
  switch (limit) {
    case "turn-steps":
      return `${used} of ${amountText(limit, max)} in this turn.`;
    case "tab-money":
      return `${moneyText(used)} of ${moneyText(max)} for this tab with its children.`;
    case "day-money":
      return `${moneyText(used)} of ${moneyText(max)} for all tabs today.`;
    case "price-unknown":
      return `${moneyText(used)} of ${moneyText(max)} is what is known; what this model costs cannot be counted.`;
    default:
      return unreachable(limit);
  }
}

export const goOnText: Readonly<Record<LimitName, string>> = {
  "turn-steps": "Go on in this turn",
  "tab-money": "Go on in this turn",
  "day-money": "Go on in this turn",
  "price-unknown": "Go on without counting",
};

/** A price that nobody knows cannot be limited by another number. */
export const canRaise = (limit: LimitName): boolean => limit !== "price-unknown";

/** A new limit to begin with: twice the old one, or past what is used. */
export function suggestedRaise({ limit, used, max }: LimitFacts): number {
  const next = Math.max(max * 2, used * 1.25);
  return isMoney(limit) ? Math.ceil(next * 100) / 100 : Math.ceil(next);
}

/** A new limit must leave room above what is used. Null for what cannot be one. */
export function raiseOf({ limit, used }: LimitFacts, amount: number | null): number | null {
  if (amount === null || !Number.isFinite(amount) || amount <= used) return null;
  return isMoney(limit) || Number.isInteger(amount) ? amount : null;
}

export function limitAnswerText(limit: LimitName, choice: LimitChoice, raiseTo: number | undefined): string {
  if (choice === "stop") return "Stopped at the limit. Everything is kept.";
  if (choice === "raise" && raiseTo !== undefined) return `The limit was raised to ${amountText(limit, raiseTo)}.`;
  return limit === "price-unknown" ? "Went on without counting." : "Went on: this turn may go as far again.";
}
