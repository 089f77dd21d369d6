/** Provider packages, loaded at first use: a start with no request loads none of them. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { assert } from "@varve/protocol";
import type { WireDialect } from "@varve/wire";
import { baseUrlOf } from "./dialect.ts";
import type { KnownCredential, ProviderFactory } from "./model.ts";

export function providerFactories(fetch: typeof globalThis.fetch): Readonly<Record<WireDialect, ProviderFactory>> {
  return {
    anthropic: async (credential) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const provider = createAnthropic({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider(modelId);
    },
    openai: async (credential) => {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider.responses(modelId);
    },
    "openai-chat": async (credential) => {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider.chat(modelId);
    },
    google: async (credential) => {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      const provider = createGoogleGenerativeAI({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider(modelId);
    },
    deepseek: async (credential) => {
      const { createDeepSeek } = await import("@ai-sdk/deepseek");
      const provider = createDeepSeek({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider(modelId);
    },
    openrouter: async (credential) => {
      const { createOpenRouter } = await import("@openrouter/ai-sdk-provider");
      const provider = createOpenRouter({ ...access(credential), fetch });
      return (modelId): LanguageModelV3 => provider.chat(modelId);
    },
    "openai-compatible": compatible(fetch),
    local: compatible(fetch),
  };
}

const compatible =
  (fetch: typeof globalThis.fetch): ProviderFactory =>
  async (credential) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const { baseURL } = access(credential);
    const key = credential.key === null ? {} : { apiKey: credential.key };
    const provider = createOpenAICompatible({ name: "openai-compatible", baseURL, ...key, includeUsage: true, fetch });
    return (modelId): LanguageModelV3 => provider.chatModel(modelId);
  };

/** A key is always given, if only an empty one: a package that found none would look into the environment by itself. */
function access(credential: KnownCredential): { readonly baseURL: string; readonly apiKey: string } {
  const baseURL = baseUrlOf(credential);
  assert(baseURL !== null, "a resolved credential has an address");
  return { baseURL, apiKey: credential.key ?? "" };
}
