import type { NewRow, StoredRow, TextData } from "@varve/protocol";
import { jsonText } from "./well-formed.ts";

export interface SealPlace {
  readonly seq: number;
  readonly term: number;
}

/** Everything of a row but its data. */
export type RowFrame = Omit<NewRow, "data"> & SealPlace;

/** The text under which a row's data is kept. */
export const dataText = (row: NewRow): string => jsonText(row.data);

/**
 * A stored row from its columns. The data is parsed from the kept text, so what `commit` answers, what a page gives and
 * what a restart finds are equal by construction, and nobody holds an object that the writer can still change.
 */
export function rowOf(frame: RowFrame, text: string): StoredRow {
  const { id, turnId, step, role, type, createdAt, by, seq, term } = frame;
  const data: unknown = JSON.parse(text);
  // Written out twice: a spread costs more than all the rest, and this is done for every row that is sealed or read.
  const row =
    by === undefined
      ? { id, turnId, step, createdAt, seq, term, role, type, data }
      : { id, turnId, step, createdAt, by, seq, term, role, type, data };
  // A decoder: role, type and data were one `NewRow` when this log wrote them, and rows never change.
  return row as StoredRow;
}

/** UTF-16 units of the row as JSON, without writing its data a second time. */
export function rowUnits(frame: RowFrame, text: string): number {
  const { id, turnId, step, role, type, createdAt, by, seq, term } = frame;
  const placeholder = 0;
  const rest = JSON.stringify({ id, turnId, step, createdAt, by, seq, term, role, type, data: placeholder });
  return rest.length - 1 + text.length;
}

/** The tool call that a row opens or answers; null for every other row. */
export const callIdOf = (row: NewRow): string | null =>
  row.type === "tool_call" || row.type === "tool_result" ? row.data.callId : null;

export const messageText = (data: TextData): string => jsonText(data);
/** A decoder of what `messageText` wrote. */
export const messageData = (text: string): TextData => JSON.parse(text) as TextData;
