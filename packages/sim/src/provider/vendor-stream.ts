import type { BegunRequest } from "../cache/cache-model.ts";
import { renderedAnswer } from "../cache/request-blocks.ts";
import { billsWrites } from "../cache/vendor-cache.ts";
import type { JsonObject } from "../json.ts";
import { createAnthropicStream } from "./anthropic-stream.ts";
import { createGeminiStream } from "./gemini-stream.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import { createOpenaiStream } from "./openai-stream.ts";
import { thoughtKey } from "./replay-check.ts";
import type { InputFigures, ReplyStream } from "./reply-stream.ts";
import { createResponsesStream } from "./responses-stream.ts";
import type { Signatures } from "./signatures.ts";
import { type Vendor, wantsUsage } from "./vendor.ts";

/** What the server remembers of its answers, to know them again. */
export interface Memory {
  readonly signatures: Signatures;
  readonly tokens: IssuedTokens;
  /** DeepSeek: the thinking of a step, by `thoughtKey`. */
  readonly thoughts: Map<string, string>;
}

export interface StreamOptions {
  readonly vendor: Vendor;
  readonly model: string;
  readonly body: JsonObject;
  readonly messageId: string;
  readonly input: InputFigures;
  /** Null: counted from what is sent. */
  readonly outputTokens: number | null;
  /** Paths of thinking blocks of the request that were dropped because their prefix was another. */
  readonly mismatched: readonly string[];
  readonly memory: Memory;
}

/** One answer in the words of its vendor. */
export function createStream(options: StreamOptions): ReplyStream {
  const { vendor, body, memory, ...rest } = options;
  const { tokens } = memory;
  switch (vendor) {
    case "anthropic":
      return createAnthropicStream({ ...rest, body, signatures: memory.signatures });
    case "openai-responses":
      return createResponsesStream({ ...rest, tokens, billsWrites: billsWrites(options.model) });
    case "google":
      return createGeminiStream({ ...rest, tokens });
    case "openai":
    case "deepseek":
    case "openrouter":
      return createOpenaiStream({
        ...rest,
        tokens,
        dialect: vendor,
        billsWrites: billsWrites(options.model),
        withUsage: wantsUsage(vendor, body),
        onThought: ({ text, firstCallId }) => {
          if (vendor !== "deepseek" || firstCallId === null) return;
          memory.thoughts.set(thoughtKey(options.model, firstCallId), text);
        },
      });
  }
}

/** The same stream, with the cache told when the answer begins and what it was at a clean end. */
export function countedStream(stream: ReplyStream, begun: BegunRequest): ReplyStream {
  const said = { thought: "", text: "", calls: [] as { name: string; args: string }[] };
  let hasEnded = false;
  const ended = (): void => {
    if (!hasEnded) begun.ended([renderedAnswer(said)]);
    hasEnded = true;
  };
  return {
    ...stream,
    start() {
      begun.firstEvent();
      return stream.start();
    },
    open(block) {
      if (block.type === "tool_use") said.calls.push({ name: block.name, args: "" });
      return stream.open(block);
    },
    delta(text) {
      const type = stream.openType();
      const call = said.calls.at(-1);
      if (type === "thinking") said.thought += text;
      else if (type === "text") said.text += text;
      else if (type === "tool_use" && call !== undefined) call.args += text;
      return stream.delta(text);
    },
    finish(stopReason) {
      ended();
      return stream.finish(stopReason);
    },
    whole(stopReason) {
      ended();
      return stream.whole(stopReason);
    },
  };
}
