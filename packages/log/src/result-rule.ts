import type { ChunkRole, TurnId } from "@varve/protocol";

/** Where a tool call stands. */
export interface CallPlace {
  readonly seq: number;
  readonly turnId: TurnId;
  readonly step: number;
}

/**
 * Whether a row that stands behind a call closes it for results: it belongs to a later step or to another turn, and the
 * model sees it. Once such a row stands, a request may have told the model what became of the call, and that text must
 * never change. System rows (usage, notices, questions ...) close nothing.
 */
export const closesCall = (
  row: { readonly role: ChunkRole; readonly turnId: TurnId; readonly step: number },
  call: CallPlace,
): boolean => row.role !== "system" && (row.turnId !== call.turnId || row.step > call.step);
