import { isObject, type JsonObject, stringOr } from "../json.ts";

const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image", "document", "tool_result"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use"],
  system: ["text"],
};

/** Why one content block is refused where it stands, or null. The caller puts the path in front. */
export function blockProblem(block: JsonObject, role: string): string | null {
  const type = stringOr(block.type, "");
  if (!ALLOWED[role]?.includes(type)) return `Input tag '${type}' is not allowed in a ${role} message`;
  switch (type) {
    case "text":
      return textProblem(block);
    case "tool_use":
      return toolUseProblem(block);
    case "tool_result":
      return toolResultProblem(block);
    case "image":
      return imageProblem(block);
    case "thinking":
      return thinkingProblem(block);
    case "redacted_thinking":
      return typeof block.data === "string" && block.data !== "" ? null : "redacted_thinking.data: Field required";
    default:
      return null;
  }
}

function textProblem(block: JsonObject): string | null {
  if (typeof block.text !== "string") return "text: Field required";
  if (block.text === "") return "text content blocks must be non-empty";
  return /\S/u.test(block.text) ? null : "text content blocks must contain non-whitespace text";
}

function toolUseProblem(block: JsonObject): string | null {
  if (!CALL_ID.test(stringOr(block.id, ""))) return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
  if (typeof block.name !== "string" || block.name === "") return "tool_use.name: Field required";
  return isObject(block.input) ? null : "tool_use.input: Input should be an object";
}

/** Stricter than the vendor in one point: an empty result without an error flag is refused too, for we never send one. */
function toolResultProblem(block: JsonObject): string | null {
  if (!CALL_ID.test(stringOr(block.tool_use_id, ""))) return "tool_result.tool_use_id: String should match pattern";
  const { content } = block;
  if (typeof content === "string") return content === "" ? "tool_result.content: content cannot be empty" : null;
  if (!Array.isArray(content) || content.length === 0) return "tool_result.content: content cannot be empty";
  for (const [index, inner] of content.entries()) {
    if (!isObject(inner)) return `tool_result.content.${index}: Input should be an object`;
    const problem = inner.type === "image" ? imageProblem(inner) : textProblem(inner);
    if (problem !== null) return `tool_result.content.${index}: ${problem}`;
  }
  return null;
}

function imageProblem(block: JsonObject): string | null {
  const source = block.source;
  if (!isObject(source)) return "image.source: Field required";
  if (source.type === "url") return typeof source.url === "string" ? null : "image.source.url: Field required";
  if (source.type !== "base64") return "image.source.type: Input should be 'base64' or 'url'";
  if (!IMAGE_TYPES.has(stringOr(source.media_type, ""))) return "image.source.base64.media_type: is not supported";
  const bytes = stringOr(source.data, "");
  const isBase64 = bytes.length > 0 && bytes.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bytes);
  return isBase64 ? null : "image.source.base64: Could not process image";
}

function thinkingProblem(block: JsonObject): string | null {
  if (typeof block.thinking !== "string") return "thinking.thinking: Field required";
  if (typeof block.signature !== "string" || block.signature === "") return "thinking.signature: Field required";
  return block.cache_control === undefined ? null : "thinking.cache_control: Extra inputs are not permitted";
}
