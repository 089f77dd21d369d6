/** Facts about models that need no network: what is listed when a provider does not answer, context sizes, order. */

export interface KnownModel {
  readonly id: string;
  readonly label: string;
  readonly contextTokens: number;
}

/** Best default first. */
export const anthropicModels: readonly KnownModel[] = [
  { id: "claude-sonnet-5-5", label: "Claude Sonnet 5.5", contextTokens: 1_000_000 },
  { id: "claude-opus-5-5", label: "Claude Opus 5.5", contextTokens: 1_000_000 },
  { id: "claude-fable-5-1", label: "Claude Fable 5.1", contextTokens: 1_000_000 },
  { id: "claude-haiku-5-5", label: "Claude Haiku 5.5", contextTokens: 200_000 },
  { id: "claude-sonnet-4-5", label: "Claude Sonnet 4.5", contextTokens: 200_000 },
];

export const contextTokensOf = (modelId: string): number | null =>
  anthropicModels.find((known) => modelId.includes(known.id))?.contextTokens ?? null;

/** Listed models in the order in which a person would try them: known ones first, in our order. */
export function byPreference(ids: readonly string[]): readonly string[] {
  const rank = (id: string): number => {
    const at = anthropicModels.findIndex((known) => id.includes(known.id));
    return at < 0 ? anthropicModels.length : at;
  };
  return ids.toSorted((a, b) => rank(a) - rank(b));
}
