/** A tab's own options: as the log keeps them, and as a patch changes them. */
import type { JsonObject, TabOptions, TabOptionsPatch } from "@varve/protocol";
import { tabOptionsSchema } from "@varve/protocol/schema";

const fields = Object.entries(tabOptionsSchema.shape);
const known = new WeakMap<JsonObject, TabOptions>();

/** What is stored and cannot be understood (a later Varve wrote it) counts as absent, and stays stored. */
export function optionsOf(stored: JsonObject): TabOptions {
  const before = known.get(stored);
  if (before !== undefined) return before;
  const legal = fields.flatMap(([name, schema]) => {
    const parsed = schema.safeParse(stored[name]);
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : [];
  });
  const options = tabOptionsSchema.parse(Object.fromEntries(legal));
  known.set(stored, options);
  return options;
}

/** A field that is left out stays, null takes it back to its default. */
export function patchedOptions(stored: JsonObject, patch: TabOptionsPatch): JsonObject {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const merged = { ...stored, ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
