/**
 * A compaction between turns: a turn without a message, so that it shows as running, can be stopped, lets messages wait, and
 * is ended by recovery when the server dies in the middle of it.
 */
import { compactTab, OwnerGone, type Plan, planCompaction, type TurnOwner, type TurnPorts } from "@varve/agent";
import {
  type Fault,
  fault,
  isFault,
  type NewRow,
  type StoredRow,
  type TurnEndReason,
  type TurnId,
} from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";

/** No summary is shorter: a compaction that would win less is not worth asking for. */
const gainTokensMin = 200;

/** What a compaction by hand would do, or `nothing-to-compact`. */
export function manualPlan(rows: readonly StoredRow[], windowTokens: number | null): Plan | Fault {
  const plan = planCompaction({ rows, windowTokens, trigger: "manual" });
  if (isFault(plan) || plan.tokensBefore - plan.tokensKept >= gainTokensMin) return plan;
  return fault(
    "nothing-to-compact",
    "There is too little behind the last turns to be summed up.",
    "Nothing was changed; a summary would be no shorter.",
  );
}

/** Inside the mailbox: why there is nothing to compact, before anything begins. */
export async function compactable(core: TabCore): Promise<Fault | null> {
  const rows = await core.load();
  if (isFault(rows)) return rows;
  const plan = manualPlan(rows, null);
  return isFault(plan) ? plan : null;
}

export async function runCompaction(ports: TurnPorts, owner: TurnOwner, turnId: TurnId): Promise<void> {
  try {
    const outcome = await compactTab(ports, owner, { trigger: "manual", place: { turnId, step: 0 } });
    if (outcome.kind === "compacted") return await owner.endTurn("done", []);
    if (outcome.kind === "stopped") return await owner.endTurn(endReason(owner.cancel), []);
    await owner.endTurn("error", [errorRow(ports, turnId, outcome.fault)]);
  } catch (error) {
    if (!(error instanceof OwnerGone)) throw error;
  }
}

const endReason = ({ reason }: AbortSignal): TurnEndReason =>
  reason === "deadline" || reason === "restart" ? reason : "stopped";

function errorRow({ ids, clock }: TurnPorts, turnId: TurnId, { message, code, hint }: Fault): NewRow {
  const data = { message, code, ...(hint !== undefined && { hint }) };
  return { id: ids.chunk(), turnId, step: 0, role: "system", type: "error", data, createdAt: clock.now() };
}
