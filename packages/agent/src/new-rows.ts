/** Makers of the rows that the agent writes itself. Pure but for the ids and the time that they are handed. */
import type { Clock, ErrorData, IdMaker, NewRow, SystemData, ToolResultData, TurnId } from "@varve/protocol";
import { continueText } from "./texts.ts";

export interface RowPlace {
  readonly turnId: TurnId;
  readonly step: number;
}

export interface RowMaker {
  system(place: RowPlace, data: SystemData): NewRow;
  error(place: RowPlace, data: ErrorData): NewRow;
  result(place: RowPlace, data: ToolResultData): NewRow;
  /** The visible user row that asks for the rest of a cut answer. */
  continue(place: RowPlace): NewRow;
}

export function rowMaker(source: {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<IdMaker, "chunk">;
}): RowMaker {
  const base = (place: RowPlace) => ({
    id: source.ids.chunk(),
    turnId: place.turnId,
    step: place.step,
    createdAt: source.clock.now(),
  });
  return {
    system: (place, data) => ({ ...base(place), role: "system", type: "system", data }),
    error: (place, data) => ({ ...base(place), role: "assistant", type: "error", data }),
    result: (place, data) => ({ ...base(place), role: "tool", type: "tool_result", data }),
    continue: (place) => ({ ...base(place), role: "user", type: "text", data: { text: continueText } }),
  };
}
