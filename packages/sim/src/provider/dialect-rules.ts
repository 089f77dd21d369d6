import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import { BREAKPOINTS_MAX } from "./anthropic-breakpoints.ts";
import { openaiProblem } from "./openai-rules.ts";

/** Chat Completions as other houses speak it: what each of them refuses beside what all of them do. */

const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

export function isDeepseekV4(model: string): boolean {
  return model.includes("deepseek-v4") || model.startsWith("deepseek-flash") || model.startsWith("deepseek-pro");
}

/** V4 thinks with its tools: the thinking of each step that called one comes back with it, in every later request. */
export function deepseekProblem(body: unknown): string | null {
  const problem = openaiProblem(body);
  if (problem !== null || !isObject(body)) return problem;
  const messages = objectsIn(body.messages);
  if (messages.at(-1)?.role === "assistant") return "The last message must not be of the assistant without `prefix`";
  if (!isDeepseekV4(stringOr(body.model, ""))) return null;
  const bare = messages.findIndex((one) => isToolStep(one) && typeof one.reasoning_content !== "string");
  return bare === -1
    ? null
    : `messages[${bare}]: The \`reasoning_content\` in the thinking mode must be passed back to the API.`;
}

function isToolStep(message: JsonObject): boolean {
  return message.role === "assistant" && objectsIn(message.tool_calls).length > 0;
}

/** Breakpoints travel on to the vendor behind it, who counts the top-level one too. */
export function openrouterProblem(body: unknown): string | null {
  const problem = openaiProblem(body);
  if (problem !== null || !isObject(body)) return problem;
  if (!stringOr(body.model, "").includes("/")) return `${stringOr(body.model, "")} is not a valid model ID`;
  const marks = chatMarks(body).length + (isObject(body.cache_control) ? 1 : 0);
  if (marks > BREAKPOINTS_MAX) {
    return `A maximum of ${BREAKPOINTS_MAX} blocks with cache_control may be provided. Found ${marks}.`;
  }
  for (const [index, message] of objectsIn(body.messages).entries()) {
    const details = message.reasoning_details;
    if (details === undefined) continue;
    const isList = Array.isArray(details) && details.every((one) => isObject(one) && typeof one.type === "string");
    if (!isList || message.role !== "assistant") return `messages[${index}].reasoning_details: Invalid input`;
  }
  return null;
}

function chatMarks(body: JsonObject): readonly JsonObject[] {
  const values = objectsIn(body.messages).flatMap((message) => [message, ...objectsIn(message.content)]);
  return values.filter((value) => isObject(value.cache_control));
}

/** A strict template: ids of nine signs, and the assistant between any two turns of the user or after a tool. */
export function mistralProblem(body: unknown): string | null {
  const problem = openaiProblem(body);
  if (problem !== null || !isObject(body)) return problem;
  let before = "";
  for (const [index, message] of objectsIn(body.messages).entries()) {
    const role = stringOr(message.role, "");
    const ids = [
      ...objectsIn(message.tool_calls).map((call) => call.id),
      ...(role === "tool" ? [message.tool_call_id] : []),
    ];
    const odd = ids.find((id) => !MISTRAL_CALL_ID.test(stringOr(id, "")));
    if (odd !== undefined) return `Tool call id was ${String(odd)} but must be a-z, A-Z, 0-9, with a length of 9.`;
    if (role === "user" && (before === "user" || before === "tool")) {
      return `messages[${index}]: Unexpected role 'user' after role '${before}'`;
    }
    before = role;
  }
  return null;
}

const THINKING_FIELDS = ["reasoning", "reasoning_content"];

/** A strict gateway: thinking that comes back is an unknown property to it, and so is what it has not documented. */
export function gatewayProblem(body: unknown): string | null {
  const problem = openaiProblem(body);
  if (problem !== null || !isObject(body)) return problem;
  if (body.chat_template_kwargs !== undefined) return "property 'chat_template_kwargs' is unsupported";
  for (const [index, message] of objectsIn(body.messages).entries()) {
    const field = THINKING_FIELDS.find((name) => message[name] !== undefined);
    if (field !== undefined) return `'messages.${index}' : property '${field}' is unsupported`;
  }
  return null;
}

/** A server on one's own network reads thinking under either name; which one depends on its age, so both must say the same. */
export function localProblem(body: unknown): string | null {
  const problem = openaiProblem(body);
  if (problem !== null || !isObject(body)) return problem;
  for (const [index, message] of objectsIn(body.messages).entries()) {
    const [newer, older] = THINKING_FIELDS.map((name) => message[name]);
    if (newer !== older) return `messages[${index}]: 'reasoning' and 'reasoning_content' differ`;
    if (newer !== undefined && (message.role !== "assistant" || typeof newer !== "string" || newer === "")) {
      return `messages[${index}].reasoning: Invalid input`;
    }
  }
  return null;
}
