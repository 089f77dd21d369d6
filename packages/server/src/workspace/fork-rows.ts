/**
 * What a child log begins with when it is cut inside a turn: error results for the calls that were open there, and the
 * turn's end. So every log's turns are whole, whatever it was cut from.
 */
import { rowsOfTurn, unansweredCalls } from "@varve/agent";
import type { IdMaker, NewRow, StoredRow, TurnId } from "@varve/protocol";

const notRunHere = "[not run: this history was forked before the call had a result]";

export function closingRows(
  rows: readonly StoredRow[],
  made: { readonly ids: IdMaker; readonly at: number },
): NewRow[] {
  const turnId = openTurn(rows);
  if (turnId === null) return [];
  const ofTurn = rowsOfTurn(rows, turnId);
  const step = ofTurn.reduce((highest, row) => Math.max(highest, row.step), 0);
  const results = unansweredCalls(ofTurn).map(({ step: at, call }): NewRow => {
    const data = { callId: call.callId, name: call.name, result: notRunHere, isError: true };
    const id = made.ids.chunk();
    return { id, turnId, step: at, role: "tool", type: "tool_result", data, createdAt: made.at };
  });
  const end: NewRow = {
    id: made.ids.chunk(),
    turnId,
    step,
    role: "system",
    type: "system",
    data: { kind: "turn-end", reason: "stopped" },
    createdAt: made.at,
  };
  return [...results, end];
}

/** The turn of the newest row of a turn, unless its end is there. */
function openTurn(rows: readonly StoredRow[]): TurnId | null {
  const last = rows.findLast((row) => row.turnId !== "");
  if (last === undefined) return null;
  const ended = last.type === "system" && last.data.kind === "turn-end";
  return ended ? null : last.turnId;
}
