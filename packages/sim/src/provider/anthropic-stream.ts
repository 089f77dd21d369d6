import { unreachable } from "@varve/protocol";
import { estimateTokens } from "../cache/cache-model.ts";
import type { JsonObject } from "../json.ts";
import { inputOf, type OpenBlock } from "./reply-plan.ts";
import type { InputFigures, ReplyStream } from "./reply-stream.ts";
import type { Signatures } from "./signatures.ts";

export interface AnthropicStreamOptions {
  readonly body: JsonObject;
  readonly messageId: string;
  readonly model: string;
  readonly input: InputFigures;
  /** Null: counted from what is sent. */
  readonly outputTokens: number | null;
  readonly signatures: Signatures;
  /** Paths of thinking blocks of the request that were dropped because their prefix was another. */
  readonly mismatched: readonly string[];
}

/** Speaks the Messages API: as server-sent events, and as one JSON message. */
export function createAnthropicStream(options: AnthropicStreamOptions): ReplyStream {
  const content: JsonObject[] = [];
  let opened: OpenBlock | null = null;
  let text = "";
  let saidTokens = 0;

  const usage = (): JsonObject => usageOf(options.input, options.outputTokens ?? saidTokens);
  const message = (stopReason: string | null, blocks: readonly JsonObject[], figures: JsonObject): JsonObject => ({
    id: options.messageId,
    type: "message",
    role: "assistant",
    model: options.model,
    content: blocks,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: figures,
    ...(options.mismatched.length === 0 ? {} : { input_transformations: options.mismatched.map(asTransformation) }),
  });

  const close = (): string => {
    if (opened === null) return "";
    const index = content.length;
    const block = sealed(opened, text, { options, content });
    const signed = block.type === "thinking" && typeof block.signature === "string" && block.signature !== "";
    content.push(block);
    opened = null;
    const token = signed
      ? event("content_block_delta", { index, delta: { type: "signature_delta", signature: block.signature } })
      : "";
    return token + event("content_block_stop", { index });
  };

  return {
    start: () => event("message_start", { message: message(null, [], usageOf(options.input, 1)) }) + event("ping", {}),
    open(block) {
      const before = close();
      opened = block;
      text = "";
      const shown = firstForm(block, { options, content });
      if (block.type === "redacted_thinking") opened = { ...block, token: String(shown.data) };
      return before + event("content_block_start", { index: content.length, content_block: shown });
    },
    delta(added) {
      if (opened === null) return "";
      text += added;
      saidTokens += estimateTokens(added);
      return event("content_block_delta", { index: content.length, delta: deltaOf(opened, added) });
    },
    close,
    finish: (stopReason) =>
      close() +
      event("message_delta", { delta: { stop_reason: stopReason, stop_sequence: null }, usage: usage() }) +
      event("message_stop", {}),
    error: (errorType, words) => event("error", { error: { type: errorType, message: words } }),
    openType: () => opened?.type ?? null,
    whole: (stopReason) => message(stopReason, content, usage()),
  };
}

function asTransformation(path: string): JsonObject {
  return { type: "drop_block", path, reason: "prefix_mismatch" };
}

interface Told {
  readonly options: AnthropicStreamOptions;
  readonly content: readonly JsonObject[];
}

/** The block as it stands in `content_block_start`: empty, but a redacted one is there at once. */
function firstForm(block: OpenBlock, { options, content }: Told): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: {} };
    case "redacted_thinking": {
      const { signatures, body } = options;
      if (block.token === undefined) {
        return { type: "redacted_thinking", data: signatures.issue(body, content, "") };
      }
      signatures.adopt(block.token, body, content, "");
      return { type: "redacted_thinking", data: block.token };
    }
    default:
      return unreachable(block);
  }
}

/** The block as it stands in the whole message. Thinking is signed here, when all of its text is known. */
function sealed(block: OpenBlock, text: string, { options, content }: Told): JsonObject {
  const { signatures, body } = options;
  switch (block.type) {
    case "text":
      return { type: "text", text };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: inputOf(text) };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: block.token };
    case "thinking":
      if (block.signature === null) return { type: "thinking", thinking: text, signature: "" };
      if (block.signature === undefined) {
        return { type: "thinking", thinking: text, signature: signatures.issue(body, content, text) };
      }
      signatures.adopt(block.signature, body, content, text);
      return { type: "thinking", thinking: text, signature: block.signature };
    default:
      return unreachable(block);
  }
}

function deltaOf(block: OpenBlock, text: string): JsonObject {
  if (block.type === "tool_use") return { type: "input_json_delta", partial_json: text };
  return block.type === "thinking" ? { type: "thinking_delta", thinking: text } : { type: "text_delta", text };
}

function usageOf(input: InputFigures, output: number): JsonObject {
  return {
    input_tokens: input.fresh,
    cache_creation_input_tokens: input.write5m + input.write1h,
    cache_read_input_tokens: input.read,
    cache_creation: { ephemeral_5m_input_tokens: input.write5m, ephemeral_1h_input_tokens: input.write1h },
    output_tokens: output,
    service_tier: "standard",
  };
}

function event(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
