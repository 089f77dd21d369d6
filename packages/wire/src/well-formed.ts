import type { Json, JsonObject } from "@varve/protocol";

/** Half an emoji becomes U+FFFD; any other text is returned as it is. */
export const wellFormedText = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

/** The same for every string and key inside a JSON value. Returns the value itself when nothing had to change. */
export function wellFormedJson(value: Json): Json {
  if (typeof value === "string") return wellFormedText(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const items = value.map(wellFormedJson);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return wellFormedObject(value);
}

export function wellFormedObject(value: JsonObject): JsonObject {
  let changed = false;
  const copy: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const goodKey = wellFormedText(key);
    const good = wellFormedJson(inner);
    changed ||= goodKey !== key || good !== inner;
    setOwn(copy, goodKey, good);
  }
  return changed ? copy : value;
}

/** Also right for the key `__proto__`, which a plain assignment would take as the object's prototype. */
export function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** `Array.isArray` alone doesn't narrow a readonly list. */
export const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
