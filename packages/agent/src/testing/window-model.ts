/** A model with a small window that answers from what it is sent and from nothing else. Its tokens are a quarter of a character. */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { Clock } from "@varve/protocol";
import { summaryAsks } from "../compaction/texts.ts";
import { unknownFacts } from "../model/facts.ts";
import type { ScriptedPart, ScriptModel } from "./script-model.ts";
import { finish, scriptModel } from "./script-model.ts";

export interface Seen {
  /** Everything of the request but its system messages, as JSON texts in order, without cache marks. */
  readonly messages: readonly string[];
  /** The request asks for a summary; the question is not among `messages`. */
  readonly asksForSummary: boolean;
  readonly tokens: number;
  readonly index: number;
}
export type Parts = readonly ScriptedPart[];

export interface WindowModelOptions {
  readonly windowTokens: number;
  /** An answer that says itself how it ends is played as it is. */
  readonly answer: (seen: Seen) => Parts;
  /** What the product believes of the window; the true one unless said. */
  readonly told?: number | null;
}

export function windowModel(
  clock: Clock,
  options: WindowModelOptions,
): ScriptModel & { readonly seen: readonly Seen[] } {
  const seen: Seen[] = [];
  const contextTokens = options.told === undefined ? options.windowTokens : options.told;
  const facts = { ...unknownFacts, contextTokens };
  const model = scriptModel(
    clock,
    (call, index) => {
      const now = look(call, index);
      if (now.tokens > options.windowTokens) {
        const message = `prompt is too long: ${now.tokens} tokens > ${options.windowTokens} maximum`;
        return { refuse: { message, type: "invalid_request_error" } };
      }
      seen.push(now);
      const parts = options.answer(now);
      if (parts.some(({ type }) => type === "finish" || type === "throw")) return parts;
      const calls = parts.some((part) => part.type === "tool-call");
      const output = Math.ceil(JSON.stringify(parts).length / 4);
      return [...parts, finish(calls ? "tool-calls" : "stop", { input: now.tokens, output })];
    },
    { facts },
  );
  return { ...model, seen };
}

export const withoutMarks = (json: string): string =>
  json.replaceAll(/,?"providerOptions":\{"anthropic":\{"cacheControl":\{"type":"ephemeral"(,"ttl":"1h")?\}\}\}/g, "");

export const messagesOf = (call: LanguageModelV3CallOptions): readonly string[] =>
  call.prompt.map((message) => withoutMarks(JSON.stringify(message)));

function look(call: LanguageModelV3CallOptions, index: number): Seen {
  const all = messagesOf(call);
  const tokens = Math.ceil((all.join("").length + JSON.stringify(call.tools ?? []).length) / 4);
  const body = all.filter((_, at) => call.prompt[at]?.role !== "system");
  const asks = summaryAsks.some((ask) => body.at(-1)?.includes(JSON.stringify(ask).slice(1, -1)));
  return { messages: asks ? body.slice(0, -1) : body, asksForSummary: asks, tokens, index };
}
