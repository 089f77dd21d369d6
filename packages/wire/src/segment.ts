/**
 * Rows of a log in segments: what belongs to one step, with everything that came while it was the newest.
 *
 *     rows     prefix U1 Q(0) T(0) C(0) R(0) U2 | Q(1) T(1) ... | U3/t2 ...
 *     segment  ------------------- 1 ----------   ----- 2 -----   ---- 3
 *
 * The first row of a later step or turn ends a segment. From then on nothing may join it: a request that holds it may
 * have been sent. So a segment that has ended is folded once and never looked at again.
 */
import type { StoredRow, SystemData } from "@varve/protocol";

export interface SegmentRow {
  readonly row: StoredRow;
  /** It names a step or turn whose segment has ended. */
  readonly late: boolean;
}

/** `neutral` rows are nothing to the fold and end nothing: usage, notices, questions, limits, turn ends ... */
export type RowPlace = "begins" | "joins" | "late" | "neutral";

/** Which step is the newest, row by row. */
export class Segmenter {
  readonly #seenTurns = new Set<string>();
  #turnId: string | null = null;
  #step = 0;

  place(row: StoredRow): RowPlace {
    switch (segmentRole(row)) {
      case "none":
        return "neutral";
      case "guest":
        return "joins";
      case "member":
        return this.#placeMember(row);
    }
  }

  #placeMember(row: StoredRow): RowPlace {
    if (row.turnId === "" && (row.role === "user" || row.role === "system")) return "joins";
    if (row.turnId === this.#turnId) {
      if (row.step === this.#step) return "joins";
      if (row.step < this.#step) return "late";
    } else if (this.#seenTurns.has(row.turnId)) return "late";
    this.#turnId = row.turnId;
    this.#seenTurns.add(row.turnId);
    this.#step = row.step;
    return "begins";
  }

  /** Whether this step's segment has ended. */
  hasEnded(turnId: string, step: number): boolean {
    return turnId === this.#turnId ? step < this.#step : this.#seenTurns.has(turnId);
  }
}

/** A guest stands in the segment that is the newest, whatever step it names; an error of the agent's own is nothing. */
function segmentRole(row: StoredRow): "member" | "guest" | "none" {
  if (row.type === "error") return row.role === "assistant" ? "member" : "none";
  if (row.type !== "system") return "member";
  if (row.data.kind === "note") return "guest";
  return isLink(row) ? "member" : "none";
}

type RequestData = Extract<SystemData, { kind: "request" }>;
export type RequestRow = Extract<StoredRow, { type: "system" }> & { readonly data: RequestData };

export const isRequest = (row: StoredRow): row is RequestRow => row.type === "system" && row.data.kind === "request";

/** Whether a row is a request of the tab's chain: one that was made for a step, not to keep a cache warm or to sum up. */
export const isLink = (row: StoredRow): row is RequestRow =>
  isRequest(row) && (row.data.purpose === undefined || row.data.purpose === "step");
