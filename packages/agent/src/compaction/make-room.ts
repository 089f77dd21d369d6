/** Between two steps: whether the tab is summed up before its next request, because it must, should or was asked to. */
import type { Fault } from "@varve/protocol";
import { fault } from "@varve/protocol";
import type { ResolvedModel } from "../model/model.ts";
import type { Turn } from "../turn.ts";
import { compactTab } from "./compact-tab.ts";
import { compactionLimits as limits } from "./limits.ts";
import { measure, scaleOf } from "./measure.ts";
import type { Trigger } from "./plan.ts";

/** `made`: rows were added. `enough`: the request may be sent. A fault: it cannot be, and the turn ends with it. */
export type Room = "enough" | "made" | Fault;

interface Asked {
  readonly step: number;
  readonly model: ResolvedModel;
}

export async function makeRoom(turn: Turn, { step, model }: Asked): Promise<Room> {
  const { ports, owner } = turn;
  const rows = owner.rows();
  const window = model.facts.contextTokens;
  const tokens = window === null ? 0 : measure(rows, scaleOf(rows));
  const trigger = triggerOf(turn, tokens, window);
  if (trigger === null) return "enough";
  const refused = turn.overflow;
  if (trigger === "overflow") {
    if (turn.overflows >= turn.limits.overflowsMax) return doesNotFit(turn, null);
    turn.overflows += 1;
  }
  owner.progress(step);
  const place = { turnId: turn.turnId, step: Math.max(0, step - 1) };
  const outcome = await compactTab(ports, owner, { trigger, place });
  if (outcome.kind === "stopped" || owner.cancel.aborted) return "made";
  if (outcome.kind === "compacted") {
    turn.overflow = null;
    return "made";
  }
  if (refused !== null) return doesNotFit(turn, outcome.fault);
  turn.compactFrom = tokens + (window ?? 0) * limits.lookAgainShare;
  await tell(turn, { trigger, why: outcome.fault, place });
  return "enough";
}

function triggerOf(turn: Turn, tokens: number, window: number | null): Trigger | null {
  const wished = turn.owner.takeCompactionWish();
  if (turn.overflow !== null) return "overflow";
  if (wished) return "manual";
  if (window === null || tokens < turn.compactFrom) return null;
  if (tokens > window) return "overflow";
  const auto = turn.ports.autoCompact();
  return auto.on && tokens > window * auto.share ? "auto" : null;
}

/** One clear error: what the provider said, what was tried, what to do. */
function doesNotFit(turn: Turn, why: Fault | null): Fault {
  const times = turn.limits.overflowsMax;
  const tried =
    why === null
      ? ` It was summed up ${times === 1 ? "once" : `${times} times`} and still does not fit.`
      : ` ${why.message}`;
  return fault(
    "context-overflow",
    `The request does not fit into the model's window.${tried}`,
    "Everything so far is kept. Choose a model with a larger window, or fork the tab at an earlier row.",
  );
}

/** A compaction that failed changes nothing; a person reads why, unless there simply was nothing to win yet. */
async function tell(
  turn: Turn,
  failed: { readonly trigger: Trigger; readonly why: Fault; readonly place: { turnId: Turn["turnId"]; step: number } },
): Promise<void> {
  const { trigger, why, place } = failed;
  if (why.code === "nothing-to-compact" && trigger !== "manual") return;
  const level = why.code === "nothing-to-compact" ? "info" : "warning";
  await turn.owner.seal([turn.rows.system(place, { kind: "notice", level, code: why.code, text: why.message })]);
}
