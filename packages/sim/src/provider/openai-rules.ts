import { findIllFormed, isObject, type JsonObject, objectsIn, parseJson, stringOr } from "../json.ts";
import { schemaProblem } from "./json-schema-check.ts";

export const OPENAI_CALL_ID_MAX = 40;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ROLES = new Set(["system", "developer", "user", "assistant", "tool"]);

/** Why a Chat Completions endpoint refuses this body with a 400, or null for a valid one. */
export function openaiProblem(body: unknown): string | null {
  if (!isObject(body)) return "We could not parse the JSON body of your request.";
  const illFormed = findIllFormed(body);
  if (illFormed !== null) return `Invalid Unicode in '${illFormed}'`;
  if (typeof body.model !== "string" || body.model === "") return "you must provide a model parameter";
  return toolsProblem(body.tools) ?? messagesProblem(body.messages);
}

function toolsProblem(tools: unknown): string | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools) || tools.length === 0) return "[] is too short - 'tools'";
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool) || tool.type !== "function" || !isObject(tool.function)) return `Invalid 'tools[${index}]'`;
    const name = stringOr(tool.function.name, "");
    if (!NAME.test(name)) return `Invalid 'tools[${index}].function.name': string does not match '${NAME.source}'`;
    if (names.has(name)) return `Invalid 'tools': duplicate function name '${name}'`;
    names.add(name);
    const problem = schemaProblem(tool.function.parameters, `tools[${index}].function.parameters`);
    if (problem !== null) return problem;
  }
  return null;
}

function messagesProblem(messages: unknown): string | null {
  if (!Array.isArray(messages) || messages.length === 0) return "[] is too short - 'messages'";
  const seen = new Set<string>();
  let owed: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) return `Invalid 'messages[${index}]'`;
    const shape = shapeProblem(message, index) ?? idsProblem(message, index, seen);
    if (shape !== null) return shape;
    if (message.role === "tool") {
      const id = stringOr(message.tool_call_id, "");
      if (!owed.includes(id)) {
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      owed = owed.filter((one) => one !== id);
      continue;
    }
    if (owed.length > 0) return unanswered(owed);
    owed = callIds(message);
  }
  return owed.length > 0 ? unanswered(owed) : null;
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
}

function shapeProblem(message: JsonObject, index: number): string | null {
  const role = stringOr(message.role, "");
  if (!ROLES.has(role)) return `Invalid value: '${role}' at 'messages[${index}].role'`;
  const calls = message.tool_calls;
  if (calls !== undefined && !(role === "assistant" && Array.isArray(calls) && calls.length > 0)) {
    return `Invalid 'messages[${index}].tool_calls': empty array or wrong role`;
  }
  const absent = message.content === undefined || message.content === null;
  if (role === "assistant" && calls !== undefined && (absent || message.content === "")) return null;
  return isFilled(message.content) ? null : `Invalid 'messages[${index}].content': must not be empty`;
}

function isFilled(content: unknown): boolean {
  if (typeof content === "string") return content !== "";
  if (!Array.isArray(content) || content.length === 0) return false;
  return content.every((part) => {
    if (!isObject(part)) return false;
    if (part.type === "text") return stringOr(part.text, "") !== "";
    if (part.type === "file") return isObject(part.file) && stringOr(part.file.file_data, "") !== "";
    return part.type === "image_url" && isObject(part.image_url) && typeof part.image_url.url === "string";
  });
}

function idsProblem(message: JsonObject, index: number, seen: Set<string>): string | null {
  for (const [at, call] of objectsIn(message.tool_calls).entries()) {
    const path = `messages[${index}].tool_calls[${at}]`;
    const id = stringOr(call.id, "");
    if (id === "" || id.length > OPENAI_CALL_ID_MAX) {
      return `Invalid '${path}.id': string of length 1 to ${OPENAI_CALL_ID_MAX} expected, got ${id.length}`;
    }
    if (seen.has(id)) return `Duplicate value for 'tool_call_id' of '${id}'`;
    seen.add(id);
    const called = isObject(call.function) ? call.function : {};
    if (!NAME.test(stringOr(called.name, ""))) return `Invalid '${path}.function.name'`;
    if (typeof called.arguments !== "string" || !isObject(parseJson(called.arguments))) {
      return `Invalid '${path}.function.arguments': expected a string that holds a JSON object`;
    }
  }
  return null;
}

function callIds(message: JsonObject): readonly string[] {
  return objectsIn(message.tool_calls).map((call) => stringOr(call.id, ""));
}
