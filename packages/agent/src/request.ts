/** From the rows to what is sent: which model, which bytes, and whether that may be sent at all. */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { Effort, Fault, NewRow, SystemData } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import type { GuardVerdict, WireRequest } from "@varve/wire";
import type { ResolvedModel } from "./model/model.ts";
import { overRows } from "./over-rows.ts";
import type { Turn } from "./turn.ts";
import { isKind } from "./turn-rows.ts";

export interface ModelRequest {
  /** Sealed in front of the `request` row. */
  readonly before: readonly NewRow[];
  /** Data of the `request` row. */
  readonly row: RequestData;
  readonly guard: GuardVerdict;
  readonly options: LanguageModelV3CallOptions;
}

export type RequestData = Extract<SystemData, { kind: "request" }>;

/** Data of the `request` row of a built request. */
export function requestRow(built: WireRequest, model: ResolvedModel): RequestData {
  const { scopeHash, tailHash, chars } = built;
  const ttl = model.target.profile.breakpoints === "tails" ? { ttl: built.lifetimes.ttl } : {};
  return { kind: "request", model: model.info.id, scopeHash, tailHash, purpose: "step", ...ttl, chars };
}

/** The newest `model-changed` row decides: an owner writes one only between turns. */
export const modelInForce = overRows<{ readonly model: string; readonly effort: Effort }>(
  { model: "", effort: "default" },
  (chosen, row) =>
    isKind(row, "model-changed") ? { model: row.data.model, effort: parseEffort(row.data.effort) } : chosen,
);

export function parseEffort(text: string): Effort {
  return text === "low" || text === "medium" || text === "high" ? text : "default";
}

export async function makeRequest(
  turn: Turn,
  chosen: { readonly step: number; readonly model: ResolvedModel; readonly effort: Effort },
): Promise<ModelRequest | Fault> {
  await readBlobs(turn);
  const build = () =>
    turn.ports.folder.request({
      rows: turn.owner.rows(),
      target: chosen.model.target,
      modelName: chosen.model.info.id,
      effort: chosen.effort,
      blobs: (hash) => turn.blobs.get(hash),
    });
  let built = build();
  if (!isFault(built) && built.endsDerived) {
    // What stands at the end must be a row before it is sent, or the next row would change it.
    await turn.owner.seal([turn.rows.continue({ turnId: turn.turnId, step: Math.max(0, chosen.step - 1) })]);
    built = build();
  }
  return isFault(built) ? built : admit(turn, chosen, built);
}

function admit(
  turn: Turn,
  chosen: { readonly step: number; readonly model: ResolvedModel },
  built: WireRequest,
): ModelRequest | Fault {
  for (const alarm of built.alarms) turn.ports.alarm?.(alarm);
  const wrong = built.violations.map((violation) => `${violation.code} at ${violation.messageIndex}`);
  if (built.endsDerived) wrong.push("the end of the request is no row");
  if (wrong.length > 0) {
    const hint = "Nothing was sent and everything is kept. Please report this, with the log's export.";
    return fault("internal", `The request breaks a rule of the wire: ${wrong.join("; ")}.`, hint);
  }
  const changed = built.guard.kind === "changed" ? built.guard : null;
  const where = changed?.firstDifferingBlock ?? null;
  const text = `The request does not extend the one before it${where === null ? "" : ` (from block ${where} on)`}.`;
  if (changed !== null && turn.ports.strict === true) return fault("internal", text);
  const place = { turnId: turn.turnId, step: chosen.step };
  const notice = () => turn.rows.system(place, { kind: "notice", level: "warning", code: "prefix-changed", text });
  return {
    before: changed === null ? [] : [notice()],
    row: requestRow(built, chosen.model),
    guard: built.guard,
    options: { ...built.options, prompt: built.messages },
  };
}

/** Reads the pictures and files that the fold will ask for. One that is gone becomes a constant text there. */
async function readBlobs(turn: Turn): Promise<void> {
  for (const hash of turn.ports.folder.neededBlobs(turn.owner.rows())) {
    if (turn.blobs.has(hash)) continue;
    const found = await turn.ports.blobs.get(hash);
    if (found !== null) turn.blobs.set(hash, { base64: Buffer.from(found.bytes).toString("base64") });
  }
}
