/**
 * What a child log begins with when it is cut inside a turn: error results for the calls that were open there, and the
 * turn's end. So every log's turns are whole, whatever it was cut from.
 */
import { rowsOfTurn, unansweredCalls } from "@varve/agent";
import type { ErrorData, IdMaker, NewRow, StoredRow, TurnEndReason, TurnId } from "@varve/protocol";

/** How an open turn is closed by somebody else than its loop. */
export interface Closing {
  readonly reason: TurnEndReason;
  /** What each call without a result is told. */
  readonly result: string;
  /** Stands in front of the turn's end. */
  readonly error?: ErrorData;
}

const forked: Closing = {
  reason: "stopped",
  result: "[not run: this history was forked before the call had a result]",
};

export function closingRows(
  rows: readonly StoredRow[],
  made: { readonly ids: IdMaker; readonly at: number },
  closing: Closing = forked,
): NewRow[] {
  const turnId = openTurn(rows);
  if (turnId === null) return [];
  const ofTurn = rowsOfTurn(rows, turnId);
  const step = ofTurn.reduce((highest, row) => Math.max(highest, row.step), 0);
  const results = unansweredCalls(ofTurn).map(({ step: at, call }): NewRow => {
    const data = { callId: call.callId, name: call.name, result: closing.result, isError: true };
    const id = made.ids.chunk();
    return { id, turnId, step: at, role: "tool", type: "tool_result", data, createdAt: made.at };
  });
  const place = { turnId, step, role: "system", createdAt: made.at } as const;
  const error: NewRow[] =
    closing.error === undefined ? [] : [{ ...place, id: made.ids.chunk(), type: "error", data: closing.error }];
  const data = { kind: "turn-end", reason: closing.reason } as const;
  return [...results, ...error, { ...place, id: made.ids.chunk(), type: "system", data }];
}

/** The turn of the newest row of a turn, unless its end is there. */
function openTurn(rows: readonly StoredRow[]): TurnId | null {
  const last = rows.findLast((row) => row.turnId !== "");
  if (last === undefined) return null;
  const ended = last.type === "system" && last.data.kind === "turn-end";
  return ended ? null : last.turnId;
}
