import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";

/** The real provider adapters against a fake provider's address. For the tests of this folder. */
export function anthropicModel(url: string, apiKey = "key-1") {
  return createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-opus-4-8");
}

export function openaiModel(url: string) {
  return createOpenAICompatible({ name: "fake", baseURL: `${url}/v1`, includeUsage: true })("local-1");
}

export interface Streamed {
  readonly parts: readonly LanguageModelV3StreamPart[];
  /** What the stream threw, if it did. */
  readonly thrown: unknown;
}

/** Reads a step to its end, however it ends. */
export async function readStep(
  model: {
    doStream(options: LanguageModelV3CallOptions): PromiseLike<{ stream: ReadableStream<LanguageModelV3StreamPart> }>;
  },
  options: Partial<LanguageModelV3CallOptions> = {},
): Promise<Streamed> {
  const parts: LanguageModelV3StreamPart[] = [];
  try {
    const { stream } = await model.doStream({ prompt: askPrompt("go"), maxOutputTokens: 100, ...options });
    for await (const part of stream) parts.push(part);
    return { parts, thrown: null };
  } catch (thrown) {
    return { parts, thrown };
  }
}

export function askPrompt(text: string): LanguageModelV3CallOptions["prompt"] {
  return [
    { role: "system", content: "SYS" },
    { role: "user", content: [{ type: "text", text }] },
  ];
}

export function textOfParts({ parts }: Streamed, type: "text-delta" | "reasoning-delta" = "text-delta"): string {
  return parts.map((part) => (part.type === type ? part.delta : "")).join("");
}

export function partOf<T extends LanguageModelV3StreamPart["type"]>(
  { parts }: Streamed,
  type: T,
): Extract<LanguageModelV3StreamPart, { type: T }> | undefined {
  return parts.find((part): part is Extract<LanguageModelV3StreamPart, { type: T }> => part.type === type);
}
