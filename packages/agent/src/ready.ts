/** What stands between a turn and its next request: a model that is there, limits that are not reached, room in the window. */
import type { Effort, ErrorData, NewRow } from "@varve/protocol";
import { isFault, unreachable } from "@varve/protocol";
import { makeRoom } from "./compaction/make-room.ts";
import type { Reached } from "./limit-check.ts";
import { checkLimits } from "./limit-check.ts";
import type { ResolvedModel } from "./model/model.ts";
import { modelInForce } from "./request.ts";
import { resultTexts } from "./texts.ts";
import type { Turn } from "./turn.ts";
import { closingResults, endFailed } from "./turn.ts";
import type { SystemRow } from "./turn-rows.ts";
import { isKind, rowsOfTurn } from "./turn-rows.ts";

export interface Ready {
  readonly kind: "ready";
  readonly model: ResolvedModel;
  readonly effort: Effort;
}
/** `over`: the turn has ended. `again`: rows were added, so ask them what comes next. */
export type Readiness = Ready | { readonly kind: "over" } | { readonly kind: "again" };

const over = { kind: "over" } as const;
const again = { kind: "again" } as const;

export async function beforeRequest(turn: Turn, step: number): Promise<Readiness> {
  const { owner, ports } = turn;
  const chosen = modelInForce(owner.rows());
  const model = await ports.models.resolve(chosen.model);
  if (isFault(model)) return failBeforeRequest(turn, step, model);
  const rows = rowsOfTurn(owner.rows(), turn.turnId);
  const priced = model.facts.prices !== null;
  const check = checkLimits({ turn: rows, spending: ports.spending(), priced });
  switch (check.kind) {
    case "open":
      return askAtLimit(turn, step, check.asked);
    case "reached":
      return askAtLimit(turn, step, limitRow(turn, step, check.reached));
    case "stop":
      return endAtLimit(turn);
    case "free":
      break;
    default:
      return unreachable(check);
  }
  const room = await makeRoom(turn, { step, model });
  if (room === "made") return again;
  if (room !== "enough") return failBeforeRequest(turn, step, room);
  return { kind: "ready", model, effort: chosen.effort };
}

export async function failBeforeRequest(turn: Turn, step: number, error: ErrorData): Promise<typeof over> {
  const { message, code, hint } = error;
  const data = { message, ...(code === undefined ? {} : { code }), ...(hint === undefined ? {} : { hint }) };
  await endFailed(turn, { step, error: data, result: resultTexts.neverRun });
  return over;
}

function limitRow(turn: Turn, step: number, reached: Reached): NewRow {
  const place = { turnId: turn.turnId, step: Math.max(0, step - 1) };
  const askId = turn.ports.ids.chunk();
  return turn.rows.system(place, { kind: "limit", state: "asked", askId, ...reached });
}

/** The turn waits for a person. What they steer meanwhile joins as soon as it goes on. */
async function askAtLimit(turn: Turn, step: number, asked: NewRow | SystemRow<"limit">): Promise<Readiness> {
  const { owner, turnId } = turn;
  const answer = await owner.ask(asked, owner.cancel);
  if (owner.cancel.aborted) return again;
  const goesOn = answer !== null && isKind(answer, "limit") && answer.data.state === "answered";
  if (!goesOn || answer.data.choice === "stop") return endAtLimit(turn);
  await owner.drainSteers(turnId, Math.max(0, step - 1));
  return again;
}

/** As a stop by hand: everything is kept, what waits is held. */
async function endAtLimit(turn: Turn): Promise<typeof over> {
  await turn.owner.endTurn("stopped", closingResults(turn, resultTexts.stopped));
  return over;
}
