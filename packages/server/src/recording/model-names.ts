/** Models as recordings name them: what is known of each, and under which name it is billed. */
import { type FactsOptions, factsOf, type ModelFacts, unknownFacts } from "@varve/agent";
import type { ProviderName } from "@varve/protocol";

interface Seller {
  readonly provider: ProviderName;
  readonly options?: FactsOptions;
}

const at = (baseUrl: string): Seller => ({ provider: "openai-compatible", options: { baseUrl } });
/** Sellers whose list prices are known. Any other's requests have no price. */
const sellers: Readonly<Record<string, Seller>> = {
  anthropic: { provider: "anthropic" },
  openai: { provider: "openai" },
  "openai-codex": { provider: "openai" },
  google: { provider: "google" },
  "google-gemini-cli": { provider: "google" },
  "google-vertex": { provider: "google" },
  deepseek: { provider: "deepseek" },
  openrouter: { provider: "openrouter" },
  mistral: at("https://api.mistral.ai/v1"),
  xai: at("https://api.x.ai/v1"),
  moonshotai: at("https://api.moonshot.ai/v1"),
  groq: at("https://api.groq.com/openai/v1"),
};

const known = new Map<string, ModelFacts>();
/** Names that a hostile file could invent without end. */
const knownMax = 1_000;

export function factsOfRecorded(provider: string, modelId: string): ModelFacts {
  const name = `${provider}/${modelId}`;
  const found = known.get(name);
  if (found !== undefined) return found;
  const seller = Object.hasOwn(sellers, provider) ? sellers[provider] : undefined;
  const facts = seller === undefined ? unknownFacts : factsOf(seller.provider, modelId, seller.options);
  if (known.size < knownMax) known.set(name, facts);
  return facts;
}
