import type { JsonObject } from "../json.ts";
import { estimateTokens } from "./cache-model.ts";
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
}

const FINISH: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

/** Speaks Chat Completions: as `data:` lines up to `[DONE]`, and as one JSON completion. Redacted thinking has no form here. */
export function createOpenaiStream(options: OpenaiStreamOptions): ReplyStream {
  const calls: { readonly id: string; readonly name: string; args: string }[] = [];
  let opened: OpenBlock | null = null;
  let text = "";
  let reasoning = "";
  let saidTokens = 0;
  let reasoningTokens = 0;

  const head = (object: string): JsonObject => ({ id: options.messageId, object, created: 0, model: options.model });
  const chunk = (delta: JsonObject, finishReason: string | null = null): string =>
    data({ ...head("chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const usage = (): JsonObject => usageOf(options.input, options.outputTokens ?? saidTokens, reasoningTokens);
  const close = (): string => {
    opened = null;
    return "";
  };

  return {
    start: () => chunk({ role: "assistant", content: "" }),
    open(block) {
      opened = block;
      if (block.type !== "tool_use") return "";
      calls.push({ id: block.id, name: block.name, args: "" });
      const called = { name: block.name, arguments: "" };
      return chunk({ tool_calls: [{ index: calls.length - 1, id: block.id, type: "function", function: called }] });
    },
    delta(added) {
      if (opened === null || opened.type === "redacted_thinking") return "";
      saidTokens += estimateTokens(added);
      if (opened.type === "thinking") {
        reasoning += added;
        reasoningTokens += estimateTokens(added);
        return chunk({ reasoning_content: added });
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
      const last = options.withUsage ? data({ ...head("chat.completion.chunk"), choices: [], usage: usage() }) : "";
      return `${chunk({}, finishReasonOf(stopReason))}${last}data: [DONE]\n\n`;
    },
    error: (errorType, words) => data({ error: { message: words, type: errorType, param: null, code: null } }),
    openType: () => opened?.type ?? null,
    whole(stopReason) {
      const message = {
        role: "assistant",
        content: text === "" ? null : text,
        ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(wholeCall) }),
      };
      const choices = [{ index: 0, message, finish_reason: finishReasonOf(stopReason) }];
      return { ...head("chat.completion"), choices, usage: usage() };
    },
  };
}

function finishReasonOf(stopReason: string): string {
  return FINISH[stopReason] ?? stopReason;
}

function wholeCall(call: { readonly id: string; readonly name: string; readonly args: string }): JsonObject {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.args } };
}

function usageOf(input: InputFigures, output: number, reasoning: number): JsonObject {
  const prompt = input.fresh + input.read + input.write5m + input.write1h;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: input.read },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
