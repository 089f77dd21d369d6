/** What a request for a summary was folded from: its question stands in no log, so it is put behind the rows once more. Pure. */
import type { ChunkId, StoredRow } from "@varve/protocol";
import { isFault, noTurn } from "@varve/protocol";
import { compactionLimits } from "./limits.ts";
import type { Trigger } from "./plan.ts";
import { planCompaction } from "./plan.ts";
import { summaryAsks } from "./texts.ts";

const triggers: readonly Trigger[] = ["manual", "auto", "overflow"];

/** These rows with a question behind them that no log holds. */
export function withQuestion(
  rows: readonly StoredRow[],
  text: string,
  made: { readonly id: ChunkId; readonly createdAt: number },
): readonly StoredRow[] {
  const last = rows.at(-1);
  const place = { turnId: noTurn, step: 0, seq: (last?.seq ?? 0) + 1, term: last?.term ?? 0 };
  return [...rows, { ...made, ...place, role: "user", type: "text", data: { text } }];
}

/**
 * Every body that a summary may have been asked over at the end of these rows, the likeliest first. The log does not tell
 * how far it went nor which wording was used; the hash of the request does.
 */
export function* summaryBodies(
  rows: readonly StoredRow[],
  windowTokens: number | null,
): Generator<readonly StoredRow[], void, undefined> {
  const last = rows.at(-1);
  if (last === undefined) return;
  const seen = new Set<number>();
  for (const trigger of triggers) {
    for (const shrink of compactionLimits.shrink) {
      const plan = planCompaction({ rows, windowTokens, trigger, shrink });
      if (isFault(plan) || seen.has(plan.summed.length)) continue;
      seen.add(plan.summed.length);
      for (const ask of summaryAsks) yield withQuestion(plan.summed, ask, last);
    }
  }
}
