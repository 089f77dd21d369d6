/** The three proofs: every state of a scope, the search for what a missing rule breaks, and a stored trace done again. */
import type { Ablation } from "./ablations.ts";
import { modelOf, settled } from "./model.ts";
import type { Off, RuleName } from "./rules.ts";
import { follow, type SearchEnd, search } from "./search.ts";
import { type Act, type Scope, sameAct } from "./world.ts";

/** A violation of one of the invariants, as short as it can be. */
export interface CounterExample {
  readonly rule: RuleName;
  /** Name of the invariant, and what is wrong. */
  readonly problem: string;
  readonly trace: readonly Act[];
}

/** States of a scope are counted up to here; one that has more is not exhausted. */
export const statesMax = 500_000;
/** Much more than any missing rule needs. */
export const ablationStatesMax = 100_000;

export const exhaust = (scope: Scope, most = statesMax): SearchEnd<Act> => search(modelOf(scope), most);

/** The shortest way to a violation without the rule; null when none was found. */
export function findCounterExample({ rule, scope }: Ablation): CounterExample | null {
  const { violation } = search(modelOf(scope, rule), ablationStatesMax);
  return violation === null ? null : { rule, ...violation };
}

/** Does the acts of a trace, then lets the world come to rest. Answers what was wrong first, or null. */
export function replay(scope: Scope, trace: readonly Act[], off: Off): string | null {
  const model = modelOf(scope, off);
  const { state, problem } = follow(model, trace, sameAct);
  return problem ?? settled(model, state).problem;
}

/** The invariant that a problem names; a problem begins with the client. */
export const invariantOf = (problem: string): string => problem.split(": ")[1] ?? "";
