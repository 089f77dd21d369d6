/**
 * A compaction between turns: a turn without a message, so that it shows as running, can be stopped, lets messages wait, and
 * is ended by recovery when the server dies in the middle of it.
 */
import { compactTab, modelInForce, OwnerGone, planCompaction, type TurnOwner, type TurnPorts } from "@varve/agent";
import {
  type Fault,
  fault,
  isFault,
  type NewRow,
  type StoredRow,
  type TurnEndReason,
  type TurnId,
} from "@varve/protocol";

/**
 * Why there is nothing to compact, before anything begins. It makes the very plan that the compaction will
 * make: with the model in force, which the next message may change and a compaction does not.
 */
export async function compactable(
  rows: readonly StoredRow[],
  models: Pick<TurnPorts["models"], "resolve">,
): Promise<Fault | null> {
  const model = await models.resolve(modelInForce(rows).model);
  const windowTokens = isFault(model) ? null : model.facts.contextTokens;
  const plan = planCompaction({ rows, windowTokens, trigger: "manual" });
  if (isFault(plan)) return plan;
  return isFault(model) ? model : null;
}

export async function runCompaction(ports: TurnPorts, owner: TurnOwner, turnId: TurnId): Promise<void> {
  try {
    const outcome = await compactTab(ports, owner, { trigger: "manual", place: { turnId, step: 0 } });
    if (outcome.kind === "compacted") return await owner.endTurn("done", []);
    if (outcome.kind === "stopped") return await owner.endTurn(endReason(owner.cancel), []);
    await owner.endTurn("error", [errorRow(ports, turnId, outcome.fault)]);
  } catch (error) {
    if (!(error instanceof OwnerGone)) await endByFault(ports, owner, { turnId, error });
  }
}

/** A mistake of ours, or a disk that cannot be read, ends this turn with its evidence: it never stays open. */
async function endByFault(
  ports: TurnPorts,
  owner: TurnOwner,
  { turnId, error }: { readonly turnId: TurnId; readonly error: unknown },
): Promise<void> {
  const told = ports.models.redact(error instanceof Error ? error.message : String(error));
  const problem = fault("internal", `The tab was not summed up: ${told}`, "Nothing was changed. Try again.");
  try {
    await owner.endTurn("error", [errorRow(ports, turnId, problem)]);
  } catch (second) {
    if (!(second instanceof OwnerGone)) throw second;
  }
}

const endReason = ({ reason }: AbortSignal): TurnEndReason =>
  reason === "deadline" || reason === "restart" ? reason : "stopped";

function errorRow({ ids, clock }: TurnPorts, turnId: TurnId, { message, code, hint }: Fault): NewRow {
  const data = { message, code, ...(hint !== undefined && { hint }) };
  return { id: ids.chunk(), turnId, step: 0, role: "system", type: "error", data, createdAt: clock.now() };
}
