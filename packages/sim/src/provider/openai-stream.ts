import { estimateTokens } from "../cache/cache-model.ts";
import type { JsonObject } from "../json.ts";
import { type CompletionsDialect, completionsUsage } from "./completions-usage.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import type { OpenBlock } from "./reply-plan.ts";
import type { InputFigures, ReplyStream } from "./reply-stream.ts";

export interface OpenaiStreamOptions {
  readonly messageId: string;
  readonly model: string;
  readonly input: InputFigures;
  /** Null: counted from what is sent. */
  readonly outputTokens: number | null;
  /** Whether the request asked for a usage event at the end of the stream. */
  readonly withUsage: boolean;
  /** Default: `openai`. */
  readonly dialect?: CompletionsDialect;
  /** Whether the model bills what it writes to the cache. */
  readonly billsWrites?: boolean;
  /** Signs the thinking of OpenRouter's answers. */
  readonly tokens?: IssuedTokens;
  /** Told at the clean end: the thinking of the whole answer, and the id of its first call. */
  readonly onThought?: (thought: { readonly text: string; readonly firstCallId: string | null }) => void;
}

const FINISH: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

/**
 * Speaks Chat Completions: as `data:` lines up to `[DONE]`, and as one JSON completion. Thinking is `reasoning_content`,
 * or with OpenRouter `reasoning_details` with a signature at its end. Redacted thinking has a form only there.
 */
export function createOpenaiStream(options: OpenaiStreamOptions): ReplyStream {
  const calls: { readonly id: string; readonly name: string; args: string }[] = [];
  const details: JsonObject[] = [];
  const dialect = options.dialect ?? "openai";
  let opened: OpenBlock | null = null;
  let text = "";
  let reasoning = "";
  let thought = "";
  let saidTokens = 0;
  let reasoningTokens = 0;

  const head = (object: string): JsonObject => ({ id: options.messageId, object, created: 0, model: options.model });
  const chunk = (delta: JsonObject, finishReason: string | null = null): string =>
    data({ ...head("chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const usage = (): JsonObject => usageOf(options, saidTokens, reasoningTokens);
  const close = (): string => {
    const token = opened === null ? null : closingDetail(opened, thought, options);
    opened = null;
    if (token === null) return "";
    details.push(token.whole);
    return chunk({ reasoning_details: [token.delta] });
  };

  return {
    start: () => chunk({ role: "assistant", content: "" }),
    open(block) {
      const before = close();
      opened = block;
      thought = "";
      if (block.type !== "tool_use") return before;
      calls.push({ id: block.id, name: block.name, args: "" });
      const called = { name: block.name, arguments: "" };
      const call = { index: calls.length - 1, id: block.id, type: "function", function: called };
      return before + chunk({ tool_calls: [call] });
    },
    delta(added) {
      if (opened === null || opened.type === "redacted_thinking") return "";
      saidTokens += estimateTokens(added);
      if (opened.type === "thinking") {
        reasoning += added;
        thought += added;
        reasoningTokens += estimateTokens(added);
        return chunk(thinkingDelta(added, dialect));
      }
      if (opened.type === "text") {
        text += added;
        return chunk({ content: added });
      }
      const call = calls.at(-1);
      if (call !== undefined) call.args += added;
      return chunk({ tool_calls: [{ index: calls.length - 1, function: { arguments: added } }] });
    },
    close,
    finish(stopReason) {
      const before = close();
      options.onThought?.({ text: reasoning, firstCallId: calls[0]?.id ?? null });
      const last = options.withUsage ? data({ ...head("chat.completion.chunk"), choices: [], usage: usage() }) : "";
      return `${before}${chunk({}, finishReasonOf(stopReason))}${last}data: [DONE]\n\n`;
    },
    error: (errorType, words) => data({ error: { message: words, type: errorType, param: null, code: null } }),
    openType: () => opened?.type ?? null,
    whole(stopReason) {
      close();
      options.onThought?.({ text: reasoning, firstCallId: calls[0]?.id ?? null });
      const message = wholeMessage({ text, reasoning, details, calls }, dialect);
      const choices = [{ index: 0, message, finish_reason: finishReasonOf(stopReason) }];
      return { ...head("chat.completion"), choices, usage: usage() };
    },
  };
}

function usageOf(options: OpenaiStreamOptions, said: number, reasoning: number): JsonObject {
  const { input, outputTokens, dialect = "openai", billsWrites = false } = options;
  return completionsUsage({ dialect, billsWrites, input, output: outputTokens ?? said, reasoning });
}

const FORMAT = { format: "anthropic-claude-v1", index: 0 };

function thinkingDelta(added: string, dialect: CompletionsDialect): JsonObject {
  if (dialect !== "openrouter") return { reasoning_content: added };
  return { reasoning: added, reasoning_details: [{ type: "reasoning.text", text: added, ...FORMAT }] };
}

/** What ends thinking that OpenRouter passes on: its signature, or all of it where it is not to be read. */
function closingDetail(
  block: OpenBlock,
  thought: string,
  { dialect, tokens, model }: OpenaiStreamOptions,
): { readonly delta: JsonObject; readonly whole: JsonObject } | null {
  if (dialect !== "openrouter" || tokens === undefined) return null;
  const issue = (scripted: string | undefined, bound: string): string => {
    if (scripted === undefined) return tokens.issue(model, bound);
    tokens.adopt(scripted, model, bound);
    return scripted;
  };
  if (block.type === "redacted_thinking") {
    const sealed = { type: "reasoning.encrypted", data: issue(block.token, ""), ...FORMAT };
    return { delta: sealed, whole: sealed };
  }
  if (block.type !== "thinking" || block.signature === null) return null;
  const delta = { type: "reasoning.text", signature: issue(block.signature, thought), ...FORMAT };
  return { delta, whole: { ...delta, text: thought } };
}

function finishReasonOf(stopReason: string): string {
  return FINISH[stopReason] ?? stopReason;
}

function wholeMessage(
  said: {
    readonly text: string;
    readonly reasoning: string;
    readonly details: readonly JsonObject[];
    readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  },
  dialect: CompletionsDialect,
): JsonObject {
  const { text, reasoning, details, calls } = said;
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(reasoning === "" || dialect === "openrouter" ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning, reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wholeCall) }),
  };
}

function wholeCall(call: { readonly id: string; readonly name: string; readonly args: string }): JsonObject {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.args } };
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
