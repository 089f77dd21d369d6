/** One request's line of the bill, from its `usage` data and where it stands. Pure. */
import { causePriceOf, type ModelFacts } from "@varve/agent";
import type { LedgerStep, SystemData } from "@varve/protocol";

export type StepPlace = Pick<
  LedgerStep,
  "requestSeq" | "usageSeq" | "turnId" | "step" | "purpose" | "model" | "startedAt" | "endedAt"
>;

export function ledgerStep(
  place: StepPlace,
  usage: Extract<SystemData, { kind: "usage" }>,
  prices: ModelFacts["prices"],
): LedgerStep {
  const { fresh, read, write5m, write1h, output, reasoning, price, attainable } = usage;
  const cause = usage.cause ?? null;
  const causePrice = cause === null ? null : causePriceOf(usage, prices);
  return { ...place, fresh, read, write5m, write1h, output, reasoning, price, attainable, cause, causePrice };
}
