/**
 * Makes a JSON value fit a number of UTF-16 units of its text while it keeps its shape: first the longest strings are
 * cut, then members that only decorate a row are removed, then long arrays are cut, at last every string and array is.
 */
import type { Json, JsonObject } from "./json.ts";

/** Strings are not cut below this in the first stage: ids, names and paths stay whole. */
const keptChars = 256;
const keptItems = 50;
/** Row data rarely have more than three long strings; what is left after so many cuts is many short ones. */
const cutsMax = 16;
const decorations: readonly string[] = ["details", "metadata", "providerMetadata", "raw"];

const sizeOf = (value: Json): number => JSON.stringify(value).length;

/** The value itself when it fits; else a shortened copy of the same shape. Never cuts a surrogate pair. */
export function clipJson(value: Json, max: number): Json {
  let clipped = value;
  for (let cuts = 0; cuts < cutsMax; cuts++) {
    const excess = sizeOf(clipped) - max;
    if (excess <= 0) return clipped;
    const longest = longestString(clipped);
    if (longest <= keptChars) break;
    clipped = mapFirst(clipped, longest, Math.max(keptChars, longest - excess));
  }
  const stages: readonly ((from: Json) => Json)[] = [
    withoutDecorations,
    (from) => cutAll(from, { items: keptItems, chars: keptChars }),
    (from) => cutAll(from, { items: 1, chars: 64 }),
  ];
  for (const stage of stages) {
    if (sizeOf(clipped) <= max) return clipped;
    clipped = stage(clipped);
  }
  return clipped;
}

function longestString(value: Json): number {
  if (typeof value === "string") return value.length;
  if (value === null || typeof value !== "object") return 0;
  let longest = 0;
  for (const item of Object.values(value)) if (item !== undefined) longest = Math.max(longest, longestString(item));
  return longest;
}

/** Cuts the first string of the given length. */
function mapFirst(value: Json, length: number, to: number): Json {
  let done = false;
  const visit = (item: Json): Json => {
    if (done) return item;
    if (typeof item === "string") {
      if (item.length !== length) return item;
      done = true;
      return cut(item, to);
    }
    return mapChildren(item, visit);
  };
  return visit(value);
}

function withoutDecorations(value: Json): Json {
  if (value === null || typeof value !== "object" || isList(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !decorations.includes(key)));
}

function cutAll(value: Json, to: { readonly items: number; readonly chars: number }): Json {
  if (typeof value === "string") return cut(value, to.chars);
  const short = value !== null && typeof value === "object" && isList(value) ? value.slice(0, to.items) : value;
  return mapChildren(short, (item) => cutAll(item, to));
}

function mapChildren(value: Json, visit: (item: Json) => Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map(visit);
  const members = Object.entries(value).map(([key, item]) => [key, item === undefined ? item : visit(item)] as const);
  return Object.fromEntries(members);
}

/** `Array.isArray` does not narrow readonly arrays. */
const isList = (value: readonly Json[] | JsonObject): value is readonly Json[] => Array.isArray(value);

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
