/** Looking into JSON of which nothing is certain. */
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

/** A count of tokens, or an amount. Null where there is none. */
export const figureOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;

/** Milliseconds: a number, or a date as text. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && Number.isFinite(time) ? time : null;
}
