import { findIllFormed, isObject, type JsonObject, objectsIn, parseJson, stringOr } from "../json.ts";
import { schemaProblem } from "./json-schema-check.ts";

export const RESPONSES_CALL_ID_MAX = 64;
const CACHE_KEY_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const PART_TYPES: Readonly<Record<string, readonly string[]>> = {
  system: ["input_text"],
  developer: ["input_text"],
  user: ["input_text", "input_image", "input_file"],
  assistant: ["output_text", "refusal"],
};

/**
 * Why the Responses API refuses this body with a 400, or null for a valid one. Stricter than the vendor in three points
 * that we never want: state kept by the server (`store`), a call whose arguments are no JSON object, and an empty output.
 * Whether encrypted reasoning was issued here is checked elsewhere, because that needs the memory of what was issued.
 */
export function responsesProblem(body: unknown): string | null {
  if (!isObject(body)) return "We could not parse the JSON body of your request.";
  const illFormed = findIllFormed(body);
  if (illFormed !== null) return `Invalid Unicode in '${illFormed}'`;
  return settingsProblem(body) ?? toolsProblem(body.tools) ?? inputProblem(body.input);
}

function settingsProblem(body: JsonObject): string | null {
  if (typeof body.model !== "string" || body.model === "") return "you must provide a model parameter";
  if (body.store !== false) return "'store' must be false: this account keeps no items between requests";
  if (body.previous_response_id !== undefined || body.conversation !== undefined) {
    return "previous_response_id: Previous response cannot be used for this organization due to Zero Data Retention.";
  }
  const key = body.prompt_cache_key;
  const isKey = key === undefined || (typeof key === "string" && key !== "" && key.length <= CACHE_KEY_MAX);
  return isKey ? null : `Invalid 'prompt_cache_key': string of length 1 to ${CACHE_KEY_MAX} expected`;
}

function toolsProblem(tools: unknown): string | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return "Invalid type for 'tools': expected an array";
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool) || tool.type !== "function") return `Invalid 'tools[${index}]'`;
    const name = stringOr(tool.name, "");
    if (!NAME.test(name)) return `Invalid 'tools[${index}].name': string does not match '${NAME.source}'`;
    if (names.has(name)) return `Invalid 'tools': duplicate function name '${name}'`;
    names.add(name);
    const problem = schemaProblem(tool.parameters, `tools[${index}].parameters`);
    if (problem !== null) return problem;
  }
  return null;
}

function inputProblem(input: unknown): string | null {
  if (!Array.isArray(input) || input.length === 0) return "Missing required parameter: 'input'";
  for (const [index, item] of input.entries()) {
    const problem = isObject(item) ? itemProblem(item) : "expected an object";
    if (problem !== null) return `Invalid 'input[${index}]': ${problem}`;
  }
  return pairingProblem(objectsIn(input)) ?? reasoningProblem(objectsIn(input)) ?? endProblem(objectsIn(input));
}

/** What an item is: the API lets a message come without its type. */
export function itemType(item: JsonObject): string {
  return stringOr(item.type, typeof item.role === "string" ? "message" : "");
}

function itemProblem(item: JsonObject): string | null {
  switch (itemType(item)) {
    case "message":
      return messageProblem(item);
    case "function_call":
      return callProblem(item);
    case "function_call_output":
      return idProblem(item) ?? outputProblem(item.output);
    case "reasoning":
      if (typeof item.encrypted_content !== "string" || item.encrypted_content === "") {
        return "reasoning items need 'encrypted_content' when `store` is set to false";
      }
      return Array.isArray(item.summary) ? null : "Missing required parameter: 'summary'";
    case "item_reference":
      return `Item with id '${stringOr(item.id, "")}' not found. Items are not persisted when \`store\` is set to false.`;
    default:
      return `Invalid value: '${itemType(item)}'`;
  }
}

function messageProblem(item: JsonObject): string | null {
  const types = PART_TYPES[stringOr(item.role, "")];
  if (types === undefined) return `Invalid value: '${stringOr(item.role, "")}' at 'role'`;
  if (typeof item.content === "string") return item.content === "" ? "'content' must not be empty" : null;
  return partsProblem(item.content, types);
}

function partsProblem(parts: unknown, types: readonly string[]): string | null {
  if (!Array.isArray(parts) || parts.length === 0) return "'content' must not be empty";
  for (const part of parts) {
    if (!isObject(part) || !types.includes(stringOr(part.type, ""))) return "Invalid value at 'content'";
    if (part.type === "input_text" || part.type === "output_text") {
      if (typeof part.text !== "string" || part.text === "") return "'content': text must not be empty";
    }
    if (part.type === "input_image" && typeof part.image_url !== "string") return "'content': image_url is missing";
    const mark = part.prompt_cache_breakpoint;
    if (mark !== undefined && !(isObject(mark) && mark.mode === "explicit")) {
      return "'prompt_cache_breakpoint': expected {mode: 'explicit'}";
    }
  }
  return null;
}

function callProblem(item: JsonObject): string | null {
  if (!NAME.test(stringOr(item.name, ""))) return "'name': string does not match the pattern of a function name";
  const isJson = typeof item.arguments === "string" && isObject(parseJson(item.arguments));
  return idProblem(item) ?? (isJson ? null : "'arguments': expected a string that holds a JSON object");
}

function idProblem(item: JsonObject): string | null {
  const length = stringOr(item.call_id, "").length;
  const isId = length > 0 && length <= RESPONSES_CALL_ID_MAX;
  return isId ? null : `'call_id': string of length 1 to ${RESPONSES_CALL_ID_MAX} expected, got ${length}`;
}

function outputProblem(output: unknown): string | null {
  if (typeof output === "string") return output === "" ? "'output' must not be empty" : null;
  return partsProblem(output, ["input_text", "input_image", "input_file"]);
}

/** Each call has exactly one output, somewhere behind it; each output has its call before it. */
function pairingProblem(items: readonly JsonObject[]): string | null {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of items) {
    const id = stringOr(item.call_id, "");
    if (item.type === "function_call") {
      if (called.has(id)) return `Duplicate function call with call_id ${id}.`;
      called.add(id);
    }
    if (item.type !== "function_call_output") continue;
    if (!called.has(id)) return `No tool call found for function call output with call_id ${id}.`;
    if (answered.has(id)) return `Duplicate function call output with call_id ${id}.`;
    answered.add(id);
  }
  const open = [...called].find((id) => !answered.has(id));
  return open === undefined ? null : `No tool output found for function call ${open}.`;
}

/** Reasoning stands in front of what came of it: a message of the assistant or a call, with only reasoning between. */
function reasoningProblem(items: readonly JsonObject[]): string | null {
  for (const [index, item] of items.entries()) {
    if (item.type !== "reasoning") continue;
    const next = items.slice(index + 1).find((one) => one.type !== "reasoning");
    const isFollowed = next !== undefined && (next.type === "function_call" || next.role === "assistant");
    if (!isFollowed) {
      return `Item '${stringOr(item.id, "")}' of type 'reasoning' was provided without its required following item.`;
    }
  }
  return null;
}

function endProblem(items: readonly JsonObject[]): string | null {
  const last = items.at(-1);
  const isOurs = last !== undefined && (last.role === "user" || last.type === "function_call_output");
  // The API itself would go on from any end; we never want to be asked to.
  return isOurs || last?.role === "system" || last?.role === "developer"
    ? null
    : "The last input item must come from the user or a tool";
}
