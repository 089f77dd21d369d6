import type { LedgerStep, RequestPurpose } from "@varve/protocol";

const PURPOSES: Readonly<Record<Exclude<RequestPurpose, "step">, string>> = {
  warm: "keep warm",
  compaction: "summary",
};

/** Which step of its turn a request was, or what else it was for. */
export const purposeText = ({ purpose, step }: Pick<LedgerStep, "purpose" | "step">): string =>
  purpose === "step" ? `step ${step + 1}` : PURPOSES[purpose];
