/** Looking into JSON of which nothing is certain. */
import { recordingLimits } from "./limits.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** Null where the text is no JSON object. */
export function parseFields(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null; // The caller counts it.
  }
}

export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** An id or a name, which is kept. A text that is too long for one is none. */
export function nameOf(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && text.length <= recordingLimits.nameCharsMax ? text : null;
}

/** A count of tokens, or an amount. Null where there is none, and where there is one that cannot be. */
export const figureOf = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= recordingLimits.figureMax ? value : null;

/** Milliseconds: a number, or a date as text. Null for what is no time of any calendar. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && Math.abs(time) <= lastTimeMs ? time : null;
}

/** Of a `Date`. */
const lastTimeMs = 8.64e15;
