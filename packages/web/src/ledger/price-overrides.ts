/** Prices that a person set by hand, as the setting `priceOverrides` holds them: US dollars for a million tokens. */
export const RATES = ["input", "read", "write5m", "write1h", "output"] as const;
export type RateName = (typeof RATES)[number];
export type Rates = { readonly [K in RateName]?: number };
export interface PriceOverride {
  readonly contextTokens?: number;
  readonly prices?: Rates;
}
export type PriceOverrides = Readonly<Record<string, PriceOverride>>;

export const rateText: Readonly<Record<RateName, string>> = {
  input: "Fresh input",
  read: "Read from cache",
  write5m: "Written for 5 min",
  write1h: "Written for 1 h",
  output: "Output",
};

/** The setting as it came; what is no price is left out. */
export function overridesOf(value: unknown): PriceOverrides {
  const entries = fieldsOf(value).map(([model, one]): [string, PriceOverride] => [model, overrideOf(one)]);
  return Object.fromEntries(entries);
}

export type TypedOverride = Record<RateName | "contextTokens", number | null>;
export const nothingTyped = (): TypedOverride => ({
  input: null,
  read: null,
  write5m: null,
  write1h: null,
  output: null,
  contextTokens: null,
});

/** The fields of a form as one override; what was left empty is left to the table. Null when a field can't be what it is. */
export function typedOverride(typed: Readonly<TypedOverride>): PriceOverride | null {
  const prices: Partial<Record<RateName, number>> = {};
  for (const name of RATES) {
    const rate = typed[name];
    if (rate === null) continue;
    if (!Number.isFinite(rate) || rate < 0) return null;
    prices[name] = rate;
  }
  const { contextTokens } = typed;
  if (contextTokens !== null && !(Number.isInteger(contextTokens) && contextTokens > 0)) return null;
  return {
    ...(contextTokens === null ? {} : { contextTokens }),
    ...(Object.keys(prices).length === 0 ? {} : { prices }),
  };
}

function overrideOf(value: unknown): PriceOverride {
  const fields = Object.fromEntries(fieldsOf(value));
  const prices: Partial<Record<RateName, number>> = {};
  for (const [name, rate] of fieldsOf(fields.prices)) {
    const known = RATES.find((one) => one === name);
    if (known !== undefined && typeof rate === "number") prices[known] = rate;
  }
  return {
    ...(typeof fields.contextTokens === "number" ? { contextTokens: fields.contextTokens } : {}),
    ...(Object.keys(prices).length === 0 ? {} : { prices }),
  };
}

const fieldsOf = (value: unknown): readonly [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
