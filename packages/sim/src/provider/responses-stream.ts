import { unreachable } from "@varve/protocol";
import { estimateTokens } from "../cache/cache-model.ts";
import type { JsonObject } from "../json.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import type { OpenBlock } from "./reply-plan.ts";
import type { InputFigures, ReplyStream } from "./reply-stream.ts";

export interface ResponsesStreamOptions {
  readonly messageId: string;
  readonly model: string;
  readonly input: InputFigures;
  /** Null: counted from what is sent. */
  readonly outputTokens: number | null;
  readonly tokens: IssuedTokens;
  /** Whether the model bills what it writes to the cache. */
  readonly billsWrites: boolean;
}

/** Speaks the Responses API: numbered events up to `response.completed`, and one JSON response. */
export function createResponsesStream(options: ResponsesStreamOptions): ReplyStream {
  const items: JsonObject[] = [];
  let opened: OpenBlock | null = null;
  let id = "";
  let text = "";
  let number = 0;
  let said = 0;
  let reasoned = 0;

  const event = (type: string, fields: JsonObject): string => {
    number += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number - 1, ...fields })}\n\n`;
  };
  const onItem = (type: string, fields: JsonObject): string =>
    event(type, { item_id: id, output_index: items.length, ...fields });
  const usage = (): JsonObject => usageOf(options, options.outputTokens ?? said, reasoned);
  const response = (status: string, more: JsonObject = {}): JsonObject =>
    responseOf(options, items, { status, ...more });

  const close = (): string => {
    if (opened === null) return "";
    const item = itemOf(opened, { id, text, options, done: true });
    const over = overEvents(opened, text, onItem);
    const done = event("response.output_item.done", { output_index: items.length, item });
    items.push(item);
    opened = null;
    return over + done;
  };

  return {
    start: () =>
      event("response.created", { response: response("in_progress") }) +
      event("response.in_progress", { response: response("in_progress") }),
    open(block) {
      const before = close();
      opened = block;
      text = "";
      id = `${PREFIX[block.type]}_${options.messageId}_${items.length}`;
      const item = itemOf(block, { id, text, options, done: false });
      const added = event("response.output_item.added", { output_index: items.length, item });
      return before + added + beginEvents(block, onItem);
    },
    delta(added) {
      if (opened === null || opened.type === "redacted_thinking") return "";
      text += added;
      said += estimateTokens(added);
      if (opened.type === "thinking") reasoned += estimateTokens(added);
      return onItem(DELTAS[opened.type], { delta: added, ...PLACES[opened.type] });
    },
    close,
    finish(stopReason) {
      const { status, details } = endOf(stopReason);
      const type = status === "completed" ? "response.completed" : "response.incomplete";
      return close() + event(type, { response: response(status, { incomplete_details: details, usage: usage() }) });
    },
    error: (code, message) =>
      event("error", { error: { type: code, code, message, param: null } }) +
      event("response.failed", { response: response("failed", { error: { code, message } }) }),
    openType: () => opened?.type ?? null,
    whole(stopReason) {
      const { status, details } = endOf(stopReason);
      return response(status, { incomplete_details: details, usage: usage() });
    },
  };
}

function responseOf(
  { messageId, model }: ResponsesStreamOptions,
  items: readonly JsonObject[],
  fields: JsonObject,
): JsonObject {
  const empty = { error: null, incomplete_details: null, usage: null };
  return { id: `resp_${messageId}`, object: "response", created_at: 0, model, output: items, ...empty, ...fields };
}

const PREFIX = { thinking: "rs", redacted_thinking: "rs", text: "msg", tool_use: "fc" } as const;
const DELTAS = {
  thinking: "response.reasoning_summary_text.delta",
  text: "response.output_text.delta",
  tool_use: "response.function_call_arguments.delta",
} as const;
const PLACES: Readonly<Record<"thinking" | "text" | "tool_use", JsonObject>> = {
  thinking: { summary_index: 0 },
  text: { content_index: 0, logprobs: [] },
  tool_use: {},
};

type OnItem = (type: string, fields: JsonObject) => string;

function beginEvents(block: OpenBlock, onItem: OnItem): string {
  if (block.type === "thinking") {
    return onItem("response.reasoning_summary_part.added", {
      summary_index: 0,
      part: { type: "summary_text", text: "" },
    });
  }
  if (block.type !== "text") return "";
  return onItem("response.content_part.added", {
    content_index: 0,
    part: { type: "output_text", annotations: [], logprobs: [], text: "" },
  });
}

function overEvents(block: OpenBlock, text: string, onItem: OnItem): string {
  switch (block.type) {
    case "thinking":
      return (
        onItem("response.reasoning_summary_text.done", { summary_index: 0, text }) +
        onItem("response.reasoning_summary_part.done", { summary_index: 0, part: { type: "summary_text", text } })
      );
    case "text":
      return onItem("response.output_text.done", { content_index: 0, text, logprobs: [] });
    case "tool_use":
      return onItem("response.function_call_arguments.done", { arguments: text });
    case "redacted_thinking":
      return "";
    default:
      return unreachable(block);
  }
}

interface Said {
  readonly id: string;
  readonly text: string;
  readonly options: ResponsesStreamOptions;
  /** The item as it ends; else as it is announced. */
  readonly done: boolean;
}

/** Encrypted reasoning is there from the start in a first form and replaced by the final one. */
function itemOf(block: OpenBlock, { id, text, options, done }: Said): JsonObject {
  const status = done ? "completed" : "in_progress";
  switch (block.type) {
    case "thinking": {
      const summary = done && text !== "" ? [{ type: "summary_text", text }] : [];
      const token = done ? finalToken(block.signature, text, options) : `early-${id}`;
      return { id, type: "reasoning", summary, ...(token === null ? {} : { encrypted_content: token }) };
    }
    case "redacted_thinking":
      return {
        id,
        type: "reasoning",
        summary: [],
        encrypted_content: done ? finalToken(block.token, "", options) : "",
      };
    case "text": {
      const content = done ? [{ type: "output_text", annotations: [], logprobs: [], text }] : [];
      return { id, type: "message", status, role: "assistant", content };
    }
    case "tool_use":
      return { id, type: "function_call", status, call_id: block.id, name: block.name, arguments: text };
    default:
      return unreachable(block);
  }
}

function finalToken(
  scripted: string | null | undefined,
  text: string,
  { tokens, model }: ResponsesStreamOptions,
): string | null {
  if (scripted === null) return null;
  if (scripted === undefined) return tokens.issue(model, text);
  tokens.adopt(scripted, model, text);
  return scripted;
}

function endOf(stopReason: string): {
  readonly status: "completed" | "incomplete";
  readonly details: JsonObject | null;
} {
  if (stopReason === "max_tokens") return { status: "incomplete", details: { reason: "max_output_tokens" } };
  if (stopReason === "refusal") return { status: "incomplete", details: { reason: "content_filter" } };
  return { status: "completed", details: null };
}

function usageOf({ input, billsWrites }: ResponsesStreamOptions, output: number, reasoning: number): JsonObject {
  const written = input.write5m + input.write1h;
  const total = input.fresh + input.read + written;
  return {
    input_tokens: total,
    input_tokens_details: { cached_tokens: input.read, ...(billsWrites ? { cache_write_tokens: written } : {}) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total + output,
  };
}
