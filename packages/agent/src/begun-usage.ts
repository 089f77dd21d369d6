/**
 * What a stream that breaks off had told of its cost. Anthropic tells the input when a message starts, and its package hands
 * usage on only with a finish, so it is read from the raw events. Pure.
 */
import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Json } from "@varve/protocol";
import type { ModelPart } from "./model/model.ts";
import type { UsageData } from "./usage.ts";
import { toJson, usageData } from "./usage.ts";

/** Characters of one token where nothing better is known. */
const charsOfToken = 4;

/** The figures of a raw event that begins a message, or null for every other event. */
export function begunUsage(rawValue: unknown): LanguageModelV3Usage | null {
  if (!startsMessage(rawValue)) return null;
  const usage = toJson(toJson(toJson(rawValue)?.message)?.usage);
  const fresh = countOf(usage?.input_tokens);
  if (usage === undefined || fresh === undefined) return null;
  const cacheRead = countOf(usage.cache_read_input_tokens);
  const cacheWrite = countOf(usage.cache_creation_input_tokens);
  // A JSON object is one for the provider's type too, which only lacks the word readonly.
  const raw = usage as NonNullable<LanguageModelV3Usage["raw"]>;
  return {
    inputTokens: { total: fresh + (cacheRead ?? 0) + (cacheWrite ?? 0), noCache: fresh, cacheRead, cacheWrite },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    raw,
  };
}

/** Looked at for every raw event of every stream: it must cost nothing for the ones that do not matter. */
export function startsMessage(rawValue: unknown): boolean {
  return typeof rawValue === "object" && rawValue !== null && "type" in rawValue && rawValue.type === "message_start";
}

/** Data of the `usage` row of a step that broke off. `chars` of output had come; what they cost is estimated from that. */
export function cutUsageData(begun: LanguageModelV3Usage, chars: number, model: string): UsageData {
  return { ...usageData(begun, model), output: Math.ceil(chars / charsOfToken), cut: true };
}

/** UTF-16 units that this part adds to what the provider bills as output. */
export function outputChars(part: ModelPart): number {
  return part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "tool-input-delta"
    ? part.delta.length
    : 0;
}

const countOf = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined);
