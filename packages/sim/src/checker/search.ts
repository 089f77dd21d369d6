/**
 * Visits every state that a model can reach, breadth first, so that the first violation found is one of the shortest.
 * The model is given as functions on immutable states; two states are the same when their keys are.
 */
export interface Next<S> {
  readonly state: S;
  /** What was wrong about this very step, seen from both of its ends. */
  readonly problem: string | null;
}
export interface Model<S, A> {
  readonly initial: S;
  readonly acts: (state: S) => readonly A[];
  readonly take: (state: S, act: A) => Next<S>;
  readonly key: (state: S) => string;
  /** What is wrong about a state, however it was reached. */
  readonly problem: (state: S) => string | null;
}
export interface Violation<A> {
  readonly trace: readonly A[];
  readonly problem: string;
}
export interface SearchEnd<A> {
  readonly states: number;
  readonly steps: number;
  readonly depth: number;
  /** Every reachable state was visited. */
  readonly exhausted: boolean;
  readonly violation: Violation<A> | null;
}

/** How each state was reached first: enough to tell the way to it. */
class Ways<A> {
  readonly #from: number[] = [];
  readonly #acts: (A | null)[] = [];

  add(from: number, act: A | null): number {
    this.#from.push(from);
    this.#acts.push(act);
    return this.#from.length - 1;
  }

  to(state: number, last?: A): readonly A[] {
    const way: A[] = last === undefined ? [] : [last];
    for (let at = state; at >= 0; at = this.#from[at] ?? -1) {
      const act = this.#acts[at];
      if (act !== null && act !== undefined) way.push(act);
    }
    return way.reverse();
  }
}

/** Ends at the first violation, when all is visited, or when `statesMax` states are known. */
export function search<S, A>(model: Model<S, A>, statesMax: number): SearchEnd<A> {
  const ways = new Ways<A>();
  const known = new Set<string>([model.key(model.initial)]);
  let level: { readonly at: number; readonly state: S }[] = [{ at: ways.add(-1, null), state: model.initial }];
  let [steps, depth] = [0, 0];
  const end = (exhausted: boolean, violation: Violation<A> | null): SearchEnd<A> => {
    return { states: known.size, steps, depth, exhausted, violation };
  };
  const first = model.problem(model.initial);
  if (first !== null) return end(false, { trace: [], problem: first });
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { at, state } of level) {
      for (const act of model.acts(state)) {
        steps += 1;
        const { state: after, problem } = model.take(state, act);
        if (problem !== null) {
          return end(false, { trace: ways.to(at, act), problem: model.problem(after) ?? problem });
        }
        const key = model.key(after);
        if (known.has(key)) continue;
        known.add(key);
        const wrong = model.problem(after);
        if (wrong !== null) return end(false, { trace: ways.to(at, act), problem: wrong });
        if (known.size >= statesMax) return end(false, null);
        next.push({ at: ways.add(at, act), state: after });
      }
    }
    level = next;
    if (level.length > 0) depth += 1;
  }
  return end(true, null);
}

/** Follows a trace; acts that cannot be done where they stand are left out, as after a rule has taken another way. */
export function follow<S, A>(
  model: Model<S, A>,
  trace: readonly A[],
  same: (a: A, b: A) => boolean,
): { readonly state: S; readonly problem: string | null } {
  let state = model.initial;
  let problem = model.problem(state);
  for (const act of trace) {
    if (problem !== null) break;
    const can = model.acts(state).find((other) => same(other, act));
    if (can === undefined) continue;
    const next = model.take(state, can);
    state = next.state;
    problem = model.problem(state) ?? next.problem;
  }
  return { state, problem };
}

/** Does what the filter allows, always the first such act, until nothing is left. Null: it never ends. */
export function settle<S, A>(
  model: Model<S, A>,
  from: S,
  options: { readonly may: (act: A) => boolean; readonly stepsMax: number },
): { readonly state: S; readonly problem: string | null } | null {
  let state = from;
  for (let steps = 0; steps < options.stepsMax; steps++) {
    const act = model.acts(state).find(options.may);
    if (act === undefined) return { state, problem: null };
    const next = model.take(state, act);
    state = next.state;
    const problem = model.problem(state) ?? next.problem;
    if (problem !== null) return { state, problem };
  }
  return null;
}
