import type { Fault } from "@varve/protocol";
import { lateResult, secondResult } from "../refusals.ts";
import { type Segment, segmentsWithin } from "../segments.ts";
import { number, text } from "./decode.ts";
import { finite } from "./paging.ts";
import type { Store } from "./store.ts";

interface Candidate {
  readonly segments: readonly Segment[];
  readonly callId: string;
  /** Where the result would stand. */
  readonly seq: number;
}

/** Why a result may not be sealed; null when it may. Costs one look-up, and the rows between call and result. */
export function resultProblem(store: Store, { segments, callId, seq }: Candidate): Fault | null {
  for (const { source, lo, hi } of segments.toReversed()) {
    const newest = store.sql.newestOfCall.get(source, callId, lo, finite(hi));
    if (newest === undefined) continue;
    if (newest.type === "tool_result") return secondResult(callId);
    const call = { seq: number(newest, "seq"), turnId: text(newest, "turn_id"), step: number(newest, "step") };
    // The result itself belongs to its call's step, whatever its writer says, so it is not looked at here.
    const behind = segmentsWithin(segments, call.seq + 1, seq - 1);
    const closed = behind.some(
      (part) => store.sql.closesCall.get(part.source, part.lo, finite(part.hi), call.turnId, call.step) !== undefined,
    );
    return closed ? lateResult(callId) : null;
  }
  return null;
}
