/**
 * Makes a failing plan smaller: leaves steps out, in ever smaller pieces, as long as the same rule is broken; then tries fewer
 * devices and tabs, and times that are short. What is left is kept in the corpus and replayed for ever.
 */
import type { Plan, Step } from "./plan.ts";

/** Runs that one shrinking may take. */
const triesMax = 400;

/** Which rule a plan breaks; null: none. */
export type Breaks = (plan: Plan) => Promise<string | null>;

export async function shrink(plan: Plan, breaks: Breaks): Promise<Plan> {
  const rule = await breaks(plan);
  if (rule === null) return plan;
  let tries = 0;
  const stillBreaks = async (smaller: Plan): Promise<boolean> => {
    tries += 1;
    return tries <= triesMax && (await breaks(smaller)) === rule;
  };
  let best = plan;
  for (let pieces = 2; best.steps.length > 1 && tries < triesMax; ) {
    const smaller = await withoutOne(best, pieces, stillBreaks);
    if (smaller !== null) [best, pieces] = [smaller, Math.max(2, pieces - 1)];
    else if (pieces >= best.steps.length) break;
    else pieces = Math.min(best.steps.length, pieces * 2);
  }
  for (const simpler of simplerOnes(best)) if (await stillBreaks(simpler(best))) best = simpler(best);
  return best;
}

/** The plan without one of so many pieces of its steps, if it still breaks; what was waited for is waited for still. */
async function withoutOne(plan: Plan, pieces: number, breaks: (plan: Plan) => Promise<boolean>): Promise<Plan | null> {
  const size = Math.ceil(plan.steps.length / pieces);
  for (let from = 0; from < plan.steps.length; from += size) {
    const smaller = { ...plan, steps: without(plan.steps, from, from + size) };
    if (await breaks(smaller)) return smaller;
  }
  return null;
}

function without(steps: readonly Step[], from: number, to: number): readonly Step[] {
  const gone = steps.slice(from, to).reduce((sum, step) => sum + step.afterMs, 0);
  const rest = steps.slice(to);
  const [next, ...others] = rest;
  const kept = next === undefined ? [] : [{ ...next, afterMs: next.afterMs + gone }, ...others];
  return [...steps.slice(0, from), ...kept];
}

const simplerOnes = (plan: Plan): readonly ((plan: Plan) => Plan)[] => [
  (one) => ({ ...one, storage: "memory" }),
  (one) => ({ ...one, tabs: 1 }),
  (one) => ({ ...one, devices: 2 }),
  (one) => ({ ...one, devices: 1 }),
  (one) => ({ ...one, asks: false }),
  (one) => ({ ...one, turnDeadlineMs: undefined }),
  ...plan.steps.map(
    (_, at) =>
      (one: Plan): Plan => ({
        ...one,
        steps: one.steps.map((step, index) => (index === at ? { ...step, afterMs: Math.min(step.afterMs, 20) } : step)),
      }),
  ),
];
