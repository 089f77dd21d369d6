/** A decoded JSON object whose fields are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The elements that are objects; everything else is left out. An absent or wrong value is an empty list. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

/** JSON text to a value, or undefined where the text is not JSON. JSON itself cannot express undefined. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // Not JSON is an ordinary answer here: callers turn it into a refusal with their own words.
    return undefined;
  }
}

/** True iff no half of a surrogate pair stands alone. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The path of the first string (key or value) that is not well formed, or null. */
export function findIllFormed(value: unknown, path = ""): string | null {
  if (typeof value === "string") {
    return isWellFormed(value) ? null : path;
  }
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = findIllFormed(element, path === "" ? String(index) : `${path}.${index}`);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isObject(value)) return null;
  for (const [key, field] of Object.entries(value)) {
    const here = path === "" ? key : `${path}.${key}`;
    if (!isWellFormed(key)) return here;
    const found = findIllFormed(field, here);
    if (found !== null) return found;
  }
  return null;
}
