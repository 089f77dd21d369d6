/**
 * What comes next in an open turn, from its rows alone: the same answer before and after a restart. Pure.
 *
 * A step is finished when its `usage` row stands; only then do its calls run. (One marked `cut` bills a broken try and says
 * nothing.) A step that was requested and did not finish has been voided or left behind, and the request after it takes the
 * next number.
 */
import type { StoredRow, ToolCallData, TurnId } from "@varve/protocol";
import { isStepFinish, isStepRequest, rowsOfTurn, unansweredCalls, voidedSteps } from "./turn-rows.ts";

export type Next =
  | { readonly kind: "request"; readonly step: number }
  /** These calls of a finished step have no result yet. Some may wait for a person's answer. */
  | { readonly kind: "run"; readonly step: number; readonly calls: readonly ToolCallData[] }
  | { readonly kind: "end" };

export function nextOf(rows: readonly StoredRow[], turnId: TurnId): Next {
  const turn = rowsOfTurn(rows, turnId);
  const newest = newestStep(turn);
  if (newest === null) return { kind: "request", step: 0 };
  const again: Next = { kind: "request", step: newest + 1 };
  if (voidedSteps(turn).has(newest)) return again;
  const finished = turn.findLast((row) => isStepFinish(row) && row.step === newest);
  if (finished === undefined) return again;
  const owed = unansweredCalls(turn).filter((entry) => entry.step === newest);
  if (owed.length > 0) return { kind: "run", step: newest, calls: owed.map((entry) => entry.call) };
  const called = turn.some((row) => row.type === "tool_call" && row.step === newest);
  const spoken = turn.some((row) => row.role === "user" && row.seq > finished.seq);
  return called || spoken ? again : { kind: "end" };
}

/** The newest step that was requested, or null before the first. */
function newestStep(turn: readonly StoredRow[]): number | null {
  const steps = turn.filter((row) => isStepRequest(row) || row.role === "assistant").map((row) => row.step);
  return steps.length === 0 ? null : Math.max(...steps);
}

/** Requests for steps that the turn has sent so far, retried ones included. */
export const requestsOf = (turn: readonly StoredRow[]): number => turn.filter(isStepRequest).length;
