/** Models by name that need no network: what is listed when a provider does not answer, and the order in which all are. */
import type { ProviderName } from "@varve/protocol";

export interface KnownModel {
  readonly id: string;
  readonly label: string;
}

/** Best default first. */
const known: Readonly<Record<ProviderName, readonly KnownModel[]>> = {
  anthropic: [
    { id: "claude-sonnet-5-5", label: "Claude Sonnet 5.5" },
    { id: "claude-opus-5-5", label: "Claude Opus 5.5" },
    { id: "claude-fable-5-1", label: "Claude Fable 5.1" },
    { id: "claude-haiku-5-5", label: "Claude Haiku 5.5" },
    { id: "claude-sonnet-4-5", label: "Claude Sonnet 4.5" },
  ],
  openai: [
    { id: "gpt-6-sol", label: "GPT-6 Sol" },
    { id: "gpt-5.6-sol", label: "GPT-5.6 Sol" },
    { id: "gpt-6-luna", label: "GPT-6 Luna" },
    { id: "gpt-5.6-luna", label: "GPT-5.6 Luna" },
    { id: "gpt-5.4", label: "GPT-5.4" },
  ],
  google: [
    { id: "gemini-3.8-flash", label: "Gemini 3.8 Flash" },
    { id: "gemini-3.1-pro-preview", label: "Gemini 3.1 Pro" },
    { id: "gemini-3.5-flash", label: "Gemini 3.5 Flash" },
    { id: "gemini-2.5-pro", label: "Gemini 2.5 Pro" },
    { id: "gemini-2.5-flash", label: "Gemini 2.5 Flash" },
  ],
  deepseek: [
    { id: "deepseek-v4-pro", label: "DeepSeek V4 Pro" },
    { id: "deepseek-flash", label: "DeepSeek Flash" },
  ],
  openrouter: [
    { id: "anthropic/claude-sonnet-5.5", label: "Claude Sonnet 5.5" },
    { id: "anthropic/claude-opus-5.5", label: "Claude Opus 5.5" },
    { id: "openai/gpt-5.6-sol", label: "GPT-5.6 Sol" },
  ],
  "openai-compatible": [],
};

export const knownModels = (provider: ProviderName): readonly KnownModel[] => known[provider];

export const labelOf = (provider: ProviderName, modelId: string): string =>
  known[provider].find(({ id }) => id === modelId)?.label ?? modelId;

/** Listed models in the order in which a person would try them: known ones first, in our order; the others as they came. */
export function byPreference(provider: ProviderName, ids: readonly string[]): readonly string[] {
  const ours = known[provider];
  const rank = (id: string): number => {
    const at = ours.findIndex((one) => id.includes(one.id));
    return at < 0 ? ours.length : at;
  };
  return ids.toSorted((a, b) => rank(a) - rank(b));
}
