import { createAnthropic } from "@ai-sdk/anthropic";
import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";

type Fetch = typeof globalThis.fetch;

/** A model as these tests use it: `doStream` of a real provider adapter. */
export interface AdapterModel {
  doStream(options: LanguageModelV3CallOptions): PromiseLike<LanguageModelV3StreamResult>;
}

/** The real provider adapters against a fake provider's address. For the tests of this folder. */
export function anthropicModel(url: string, apiKey = "key-1") {
  return createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-opus-4-8");
}

export function openaiModel(url: string) {
  return createOpenAICompatible({ name: "fake", baseURL: `${url}/v1`, includeUsage: true })("local-1");
}

export function responsesModel(url: string, model = "gpt-5.6", fetch?: Fetch) {
  return createOpenAI({ baseURL: `${url}/v1`, apiKey: "key-1", ...(fetch ? { fetch } : {}) }).responses(model);
}

export function chatModel(url: string, model = "gpt-5.6", fetch?: Fetch) {
  return createOpenAI({ baseURL: `${url}/v1`, apiKey: "key-1", ...(fetch ? { fetch } : {}) }).chat(model);
}

export function geminiModel(url: string, model = "gemini-3-pro-preview", fetch?: Fetch) {
  return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: "key-1", ...(fetch ? { fetch } : {}) })(model);
}

export function deepseekModel(url: string, model = "deepseek-v4-pro", fetch?: Fetch) {
  return createDeepSeek({ baseURL: url, apiKey: "key-1", ...(fetch ? { fetch } : {}) })(model);
}

export function openrouterModel(url: string, model = "anthropic/claude-opus-4.8", fetch?: Fetch) {
  const provider = createOpenRouter({ baseURL: `${url}/api/v1`, apiKey: "key-1", ...(fetch ? { fetch } : {}) });
  return provider.chat(model);
}

export interface Streamed {
  readonly parts: readonly LanguageModelV3StreamPart[];
  /** What the stream threw, if it did. */
  readonly thrown: unknown;
}

/** Reads a step to its end, however it ends. */
export async function readStep(
  model: AdapterModel,
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

type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];

/** What a client keeps of a step, as the next prompt's messages: the plainest loop there is. */
export function historyOf(parts: readonly LanguageModelV3StreamPart[]): readonly LanguageModelV3Message[] {
  const said = new Map<string, { type: "text" | "reasoning"; text: string }>();
  const content: AssistantPart[] = [];
  const results: LanguageModelV3Message[] = [];
  for (const part of parts) {
    if (part.type === "text-start" || part.type === "reasoning-start") {
      const block = { type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const), text: "" };
      said.set(part.id, block);
      content.push(block);
    }
    if (part.type === "tool-call") {
      const { toolCallId, toolName, providerMetadata } = part;
      const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
      content.push({ type: "tool-call", toolCallId, toolName, input: JSON.parse(part.input), ...options });
      const output = { type: "text" as const, value: `result of ${toolCallId}` };
      results.push({ role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] });
    }
    const block = "id" in part && part.id !== undefined ? said.get(part.id) : undefined;
    if (block === undefined) continue;
    if ("delta" in part) block.text += part.delta;
    if ("providerMetadata" in part && part.providerMetadata !== undefined) {
      Object.assign(block, { providerOptions: part.providerMetadata });
    }
  }
  // The results of one step are one message: some vendors count them against the calls of the turn before.
  const joined = results.flatMap((result) => (result.role === "tool" ? result.content : []));
  return [{ role: "assistant", content }, ...(joined.length === 0 ? [] : [{ role: "tool" as const, content: joined }])];
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
