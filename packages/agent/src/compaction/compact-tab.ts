/** One compaction, from the plan to its row. In a turn it happens between two steps, else between two turns. */
import type { Fault, StoredRow } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import type { RowPlace } from "../new-rows.ts";
import { rowMaker } from "../new-rows.ts";
import { modelInForce } from "../request.ts";
import { isKind } from "../turn-rows.ts";
import { compactionLimits as limits } from "./limits.ts";
import type { Plan, Trigger } from "./plan.ts";
import { planCompaction } from "./plan.ts";
import type { CompactOwner, CompactPorts } from "./summarize.ts";
import { summarize } from "./summarize.ts";
import { summaryText } from "./texts.ts";

export interface CompactWish {
  readonly trigger: Trigger;
  /** Of the rows that it seals: outside any turn, or the newest step of the open one. */
  readonly place: RowPlace;
}

export type Compacted =
  | { readonly kind: "compacted"; readonly row: StoredRow }
  /** `nothing-to-compact` before anything was sent, else `compaction-failed`; the log says the same as before. */
  | { readonly kind: "failed"; readonly fault: Fault }
  | { readonly kind: "stopped" };

/**
 * Sums the tab up with the model in force. Seals `request` and `usage` rows with purpose `compaction`, then one `compaction`
 * row; nothing is changed unless that row stands. Rejects as `owner.seal` does and never otherwise. The caller sees to it
 * that nothing else is sealed meanwhile.
 */
export async function compactTab(ports: CompactPorts, owner: CompactOwner, wish: CompactWish): Promise<Compacted> {
  const chosen = modelInForce(owner.rows());
  const model = await ports.models.resolve(chosen.model);
  if (isFault(model)) return { kind: "failed", fault: model };
  let last: Fault = fault("compaction-failed", "The tab was not summed up.");
  for (const shrink of limits.shrink) {
    const windowTokens = model.facts.contextTokens;
    const plan = planCompaction({ rows: owner.rows(), windowTokens, trigger: wish.trigger, shrink });
    if (isFault(plan)) return { kind: "failed", fault: shrink === 1 ? plan : last };
    const summary = await summarize({
      ports,
      owner,
      place: wish.place,
      model,
      effort: chosen.effort,
      rows: plan.summed,
    });
    if (summary.kind === "stopped") return summary;
    if (summary.kind === "summary") return sealCompaction(ports, owner, { ...summary, plan, wish });
    last = summary.fault;
    if (!summary.tooLarge) break;
  }
  return { kind: "failed", fault: last };
}

async function sealCompaction(
  ports: CompactPorts,
  owner: CompactOwner,
  made: { readonly plan: Plan; readonly wish: CompactWish; readonly words: string; readonly cut: boolean },
): Promise<Compacted> {
  const { plan, wish } = made;
  const { keepFrom, leftOutSeqs } = plan;
  const prefix = owner.rows().findLast((row) => isKind(row, "prefix"));
  const hasRecall =
    prefix !== undefined && isKind(prefix, "prefix") && prefix.data.tools.some(({ name }) => name === "recall");
  const summary = summaryText({ words: made.words, cut: made.cut, keepFrom, leftOutSeqs, hasRecall });
  const row = rowMaker(ports).system(wish.place, {
    kind: "compaction",
    summary,
    keepFrom,
    keptUserSeqs: [...plan.keptUserSeqs],
    keptNoteSeqs: [...plan.keptNoteSeqs],
    trigger: wish.trigger,
    tokensBefore: plan.tokensBefore,
    tokensAfter: Math.ceil(plan.tokensKept + summary.length * plan.scale),
  });
  const [sealed] = await owner.seal([row]);
  return sealed === undefined
    ? { kind: "failed", fault: fault("compaction-failed", "The summary was not taken into the log.") }
    : { kind: "compacted", row: sealed };
}
