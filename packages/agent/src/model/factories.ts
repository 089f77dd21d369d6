/** Provider packages, loaded at first use: a start with no request loads none of them. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { assert } from "@varve/protocol";
import { normalBaseUrl } from "./base-url.ts";
import type { KnownCredential, ProviderFactory } from "./model.ts";

export const anthropicHome = "https://api.anthropic.com/v1";

export function baseUrlOf(credential: Pick<KnownCredential, "provider" | "baseUrl">): string | null {
  if (credential.baseUrl !== null) return normalBaseUrl(credential.baseUrl);
  return credential.provider === "anthropic" ? anthropicHome : null;
}

export function providerFactories(fetch: typeof globalThis.fetch): {
  readonly anthropic: ProviderFactory;
  readonly "openai-compatible": ProviderFactory;
} {
  return {
    anthropic: async (credential) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const baseURL = baseUrlOf(credential);
      assert(baseURL !== null, "a resolved credential has an address");
      const provider = createAnthropic({ baseURL, apiKey: credential.key ?? "", fetch });
      return (modelId): LanguageModelV3 => provider(modelId);
    },
    "openai-compatible": async (credential) => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const baseURL = baseUrlOf(credential);
      assert(baseURL !== null, "a resolved credential has an address");
      const key = credential.key === null ? {} : { apiKey: credential.key };
      const provider = createOpenAICompatible({
        name: "openai-compatible",
        baseURL,
        ...key,
        includeUsage: true,
        fetch,
      });
      return (modelId): LanguageModelV3 => provider.chatModel(modelId);
    },
  };
}
