/**
 * A tool call's arguments, from the text that the model wrote. The text is kept verbatim beside the object, because
 * numbers such as `1.0` or integers over 2^53 don't survive parsing. Whatever the text is, an object comes out: one
 * broken call must never make a tab unsendable.
 */
import type { Json, JsonObject } from "@varve/protocol";
import { isList, isObject, wellFormedObject, wellFormedText } from "./well-formed.ts";

/** Nesting beyond this counts as malformed: serialisers recurse, and a deep one would overflow the stack. */
export const argumentsDepthMax = 200;

export interface ParsedArguments {
  /** False when the text is not a JSON object: then the call's result says so, and no tool runs. */
  readonly valid: boolean;
  /** The object, or `{_invalid: text}`. Well-formed in every string. */
  readonly value: JsonObject;
  /** The text may go out as it stands; false where providers would refuse or re-encode it. */
  readonly verbatim: boolean;
}

export function parseArguments(argsText: string): ParsedArguments {
  if (argsText.trim() === "") return { valid: true, value: {}, verbatim: false };
  const parsed = parseObject(argsText);
  if (parsed === null) return { valid: false, value: { _invalid: wellFormedText(argsText) }, verbatim: false };
  const value = wellFormedObject(parsed);
  return { valid: true, value, verbatim: value === parsed && argsText.isWellFormed() && !touchesPrototype(parsed) };
}

function parseObject(text: string): JsonObject | null {
  let parsed: Json;
  try {
    // JSON.parse is typed `any`; what it returns is JSON by definition.
    parsed = JSON.parse(text) as Json;
  } catch {
    return null; // Malformed text is a fact about the model's output, told in the result; there is nothing to report here.
  }
  return isObject(parsed) && isShallow(parsed) ? parsed : null;
}

/** Breadth first, so that the check itself can't overflow. */
function isShallow(root: JsonObject): boolean {
  let level: readonly Json[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > argumentsDepthMax) return false;
    level = level.flatMap(children);
  }
  return true;
}

function children(value: Json): readonly Json[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = isList(value) ? value : Object.values(value).filter((one) => one !== undefined);
  return inner.filter((one) => typeof one === "object" && one !== null);
}

/** Provider adapters refuse texts with these keys and would send them encoded twice; as objects they pass unharmed. */
function touchesPrototype(root: JsonObject): boolean {
  let level: readonly Json[] = [root];
  while (level.length > 0) {
    if (level.some(hasPrototypeKey)) return true;
    level = level.flatMap(children);
  }
  return false;
}

function hasPrototypeKey(value: Json): boolean {
  if (typeof value !== "object" || value === null || isList(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) =>
      key === "__proto__" || (key === "constructor" && isObject(inner) && Object.hasOwn(inner, "prototype")),
  );
}
