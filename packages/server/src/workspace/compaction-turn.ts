/**
 * A compaction between turns: a turn without a message, so that it shows as running, can be stopped, lets messages wait, and
 * is ended by recovery when the server dies in the middle of it.
 */
import { compactTab, OwnerGone, planCompaction, type TurnOwner, type TurnPorts } from "@varve/agent";
import { type Fault, isFault, type NewRow, type TurnEndReason, type TurnId } from "@varve/protocol";
import type { TabActor } from "./tab-actor.ts";

/** Inside the mailbox: `nothing-to-compact`, before anything begins. */
export async function compactable({ core }: TabActor): Promise<Fault | null> {
  const rows = await core.load();
  if (isFault(rows)) return rows;
  const plan = planCompaction({ rows, windowTokens: null, trigger: "manual" });
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
