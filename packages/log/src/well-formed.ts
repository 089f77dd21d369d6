import type { Json, JsonObject } from "@varve/protocol";

/** Matches only surrogates that stand alone: with the `u` flag a whole pair is one character. */
const loneSurrogate = /\p{Surrogate}/gu;
/** How `JSON.stringify` writes a lone surrogate. Also matches that text written out, which costs a walk and no more. */
const escapedSurrogate = /\\ud[89a-f]/;

/**
 * The same value with each lone surrogate, in strings and in keys, replaced by U+FFFD. Pure; key order stays.
 * Engines and providers refuse or alter lone surrogates, each in its own way: a row must never hold one.
 */
export function wellFormed(value: Json): Json {
  if (typeof value === "string") return value.replace(loneSurrogate, "\uFFFD");
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(wellFormed);
  return wellFormedObject(value);
}

/** Text that any engine keeps as it is: no lone surrogate, and no NUL (which some drivers cut the text at). */
export const plainText = (text: string): string => text.replace(loneSurrogate, "\uFFFD").replaceAll("\0", "\uFFFD");

/** The JSON text under which data is kept for ever: well-formed Unicode, undefined fields left out, keys in order. */
export function jsonText(value: Json): string {
  const text = JSON.stringify(value);
  return escapedSurrogate.test(text) ? JSON.stringify(wellFormed(value)) : text;
}

const isList = (value: readonly Json[] | JsonObject): value is readonly Json[] => Array.isArray(value);

function wellFormedObject(value: JsonObject): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) entries.push([key.replace(loneSurrogate, "\uFFFD"), wellFormed(field)]);
  }
  // Not by assignment: a key named __proto__ would set the prototype and vanish from the text.
  return Object.fromEntries(entries);
}
