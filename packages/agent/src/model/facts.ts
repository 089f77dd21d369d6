/**
 * CONTRACT. What is known of a model without a network: prices, limits, cache rules. From the generated table, a small one by
 * hand for what no package has, and a person's own overrides, which win. Unknown is null, never 0.
 */

/** US dollars for a million tokens. */
export interface Rates {
  readonly input: number | null;
  readonly output: number | null;
  readonly read: number | null;
  readonly write5m: number | null;
  readonly write1h: number | null;
}
export interface ModelPrices extends Rates {
  /** Ascending by `above`: the rates of a request whose whole input has more tokens than that. */
  readonly tiers: readonly (Rates & { readonly above: number })[];
}
export interface CacheFacts {
  /** Shorter prefixes are not cached. */
  readonly minTokens: number;
  /** Lifetimes from the start of a request; `longMs` null where there is none to choose. */
  readonly shortMs: number;
  readonly longMs: number | null;
}
export interface ModelFacts {
  readonly contextTokens: number | null;
  readonly outputTokensMax: number | null;
  readonly prices: ModelPrices | null;
  /** Null: this provider caches nothing, or nobody knows how. */
  readonly cache: CacheFacts | null;
}

export const unknownFacts: ModelFacts = { contextTokens: null, outputTokensMax: null, prices: null, cache: null };

/** By model name `<credential>/<model>`. A field that is absent is left to the table. */
export type PriceOverrides = Readonly<
  Record<string, { readonly contextTokens?: number; readonly prices?: Partial<Rates> }>
>;
