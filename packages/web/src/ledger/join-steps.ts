import type { LedgerStep } from "@varve/protocol";

/** The newest page, and behind it the older pages that are held, if they still follow each other. */
export function joinSteps(fresh: readonly LedgerStep[], held: readonly LedgerStep[]): readonly LedgerStep[] {
  const last = fresh.at(-1);
  const at = last === undefined ? -1 : held.findIndex((step) => sameStep(step, last));
  return at === -1 ? fresh : [...fresh, ...held.slice(at + 1)];
}

const sameStep = (a: LedgerStep, b: LedgerStep): boolean =>
  a.usageSeq === b.usageSeq && a.turnId === b.turnId && a.startedAt === b.startedAt;
