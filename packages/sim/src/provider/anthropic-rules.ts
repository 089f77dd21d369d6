import { contentBlocks } from "../blocks.ts";
import { findIllFormed, isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import { blockProblem } from "./anthropic-block-rules.ts";
import { breakpointProblem } from "./anthropic-breakpoints.ts";
import { schemaProblem } from "./json-schema-check.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
export const MID_SYSTEM_BETA = "mid-conversation-system-2026-04-07";

/** A message after neighbours of one role were joined; `at` is the index of the first of them in the body. */
export interface JoinedMessage {
  readonly role: string;
  readonly blocks: readonly JsonObject[];
  readonly at: number;
}

/**
 * Why the Messages API refuses this body with a 400, in the vendor's manner of speaking, or null for a valid body.
 * Signatures of thinking are checked elsewhere, because that needs the memory of what was issued.
 */
export function anthropicProblem(body: unknown, betas: readonly string[] = []): string | null {
  if (!isObject(body)) return "The request body is not a JSON object";
  const illFormed = findIllFormed(body);
  if (illFormed !== null) return `${illFormed}: str is not valid: no low surrogate in string`;
  return (
    settingsProblem(body) ??
    toolsProblem(body.tools) ??
    systemProblem(body.system) ??
    shapeProblem(body.messages) ??
    breakpointProblem(body) ??
    orderProblem(joinMessages(body), betas) ??
    pairingProblem(joinMessages(body))
  );
}

export function joinMessages(body: JsonObject): readonly JoinedMessage[] {
  const joined: { role: string; blocks: JsonObject[]; at: number }[] = [];
  for (const [at, message] of objectsIn(body.messages).entries()) {
    const role = stringOr(message.role, "");
    const last = joined.at(-1);
    if (last?.role === role) last.blocks.push(...contentBlocks(message.content));
    else joined.push({ role, blocks: [...contentBlocks(message.content)], at });
  }
  return joined;
}

function settingsProblem(body: JsonObject): string | null {
  if (typeof body.model !== "string" || body.model === "") return "model: Field required";
  if (body.max_tokens === undefined) return "max_tokens: Field required";
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 0) return "max_tokens: must be an integer >= 0";
  if (body.max_tokens === 0 && body.stream === true) return "max_tokens: 0 is not available with streaming";
  if (body.stream !== undefined && typeof body.stream !== "boolean") return "stream: Input should be a valid boolean";
  return null;
}

function toolsProblem(tools: unknown): string | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return "tools: Input should be a valid list";
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool)) return `tools.${index}: Input should be an object`;
    const name = stringOr(tool.name, "");
    if (!TOOL_NAME.test(name)) return `tools.${index}.name: String should match pattern '${TOOL_NAME.source}'`;
    if (names.has(name)) return "tools: Tool names must be unique.";
    names.add(name);
    const isCustom = tool.type === undefined || tool.type === "custom";
    const problem = isCustom ? schemaProblem(tool.input_schema, `tools.${index}.custom.input_schema`) : null;
    if (problem !== null) return problem;
  }
  return null;
}

function systemProblem(system: unknown): string | null {
  if (system === undefined || typeof system === "string") return null;
  if (!Array.isArray(system)) return "system: Input should be a string or a list";
  for (const [index, block] of system.entries()) {
    if (!isObject(block) || block.type !== "text") return `system.${index}: Input should be a text block`;
    const problem = blockProblem(block, "system");
    if (problem !== null) return `system.${index}: ${problem}`;
  }
  return null;
}

function shapeProblem(messages: unknown): string | null {
  if (!Array.isArray(messages)) return "messages: Field required";
  if (messages.length === 0) return "messages: at least one message is required";
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) return `messages.${index}: Input should be an object`;
    const problem = contentProblem(message);
    if (problem !== null) return `messages.${index}${problem}`;
  }
  return null;
}

function contentProblem(message: JsonObject): string | null {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system")
    return ".role: Input should be 'user' or 'assistant'";
  if (typeof content === "string") {
    return /\S/u.test(content) ? null : ": text content blocks must contain non-whitespace text";
  }
  if (!Array.isArray(content)) return ".content: Input should be a valid list";
  if (content.length === 0) return ": all messages must have non-empty content";
  for (const [at, block] of content.entries()) {
    if (!isObject(block)) return `.content.${at}: Input should be an object`;
    const problem = blockProblem(block, role);
    if (problem !== null) return `.content.${at}: ${problem}`;
  }
  return null;
}

function orderProblem(messages: readonly JoinedMessage[], betas: readonly string[]): string | null {
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  for (const [index, message] of messages.entries()) {
    const problem = message.role === "system" ? midSystemProblem(messages, index, betas) : null;
    if (problem !== null) return `messages.${message.at}: ${problem}`;
    const last = message.blocks.at(-1)?.type;
    if (message.role === "assistant" && (last === "thinking" || last === "redacted_thinking")) {
      return `messages.${message.at}: The final block in an assistant message cannot be \`thinking\`.`;
    }
  }
  if (messages.at(-1)?.role === "assistant") {
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
  return null;
}

function midSystemProblem(messages: readonly JoinedMessage[], index: number, betas: readonly string[]): string | null {
  if (!betas.includes(MID_SYSTEM_BETA))
    return 'Unexpected role "system". The Messages API accepts a top-level `system`';
  if (messages[index - 1]?.role !== "user") return "a system message must follow a user message";
  const next = messages[index + 1]?.role;
  return next === undefined || next === "assistant"
    ? null
    : "a system message must be last or precede an assistant one";
}

/** Every tool_use has exactly one tool_result in the next user message, in front of anything else, and nothing else has one. */
function pairingProblem(messages: readonly JoinedMessage[]): string | null {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const expected = before?.role === "assistant" ? callIds(before) : [];
    const problem = resultsProblem(message, expected);
    if (problem !== null) return problem;
    if (message.role === "user") continue;
    for (const id of callIds(message)) {
      if (seen.has(id)) return `messages.${message.at}: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
    if (callIds(message).length > 0 && messages[index + 1]?.role !== "user") {
      return missingResult(message.at, callIds(message));
    }
  }
  return null;
}

function resultsProblem(message: JoinedMessage, expected: readonly string[]): string | null {
  const isResult = (block: JsonObject): boolean => block.type === "tool_result";
  const results = message.blocks.filter(isResult).map((block) => stringOr(block.tool_use_id, ""));
  const orphan = results.find((id) => !expected.includes(id));
  if (orphan !== undefined) {
    return `messages.${message.at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  if (new Set(results).size < results.length) {
    return `messages.${message.at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks`;
  }
  const missing = expected.filter((id) => !results.includes(id));
  if (missing.length > 0) return missingResult(message.at - 1, missing);
  const leading = message.blocks.slice(0, results.length).every(isResult);
  return leading ? null : missingResult(message.at - 1, expected);
}

function missingResult(at: number, ids: readonly string[]): string {
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function callIds(message: JoinedMessage): readonly string[] {
  return message.blocks.filter((block) => block.type === "tool_use").map((block) => stringOr(block.id, ""));
}
