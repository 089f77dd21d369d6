/**
 * Prices and limits of models as our own table, made from another package's facts. Pure.
 *
 * A row is `[contextTokens, outputTokensMax, input, output, read, write, tiers]`, prices in US dollars for a million tokens, a tier
 * `[above, input, output, read, write]`. The source says 0 where it knows nothing, so 0 becomes null, except for models that
 * their seller names free.
 */
export const COLUMNS = ["contextTokens", "outputTokensMax", "input", "output", "read", "write", "tiers"];

/** The source's file -> our provider. `openai-compatible` servers with a known address have tables of their own. */
export const PROVIDERS = [
  "anthropic",
  "openai",
  "google",
  "deepseek",
  "openrouter",
  "mistral",
  "xai",
  "moonshotai",
  "groq",
];

/** Sold under other terms than a request that is answered at once, or an alias whose model changes under it. */
const LEFT_OUT = /:batch$|^~|^openrouter\//;
const FREE = /:free$/;

/** `files`: provider -> parsed file of the source. */
export function modelTable(files, source) {
  const providers = {};
  for (const provider of PROVIDERS) {
    const models = Object.values(files[provider] ?? {})
      .flatMap((byId) => Object.values(byId))
      .filter((model) => model.type === "chat" && !LEFT_OUT.test(model.id));
    const rows = models.map((model) => [model.id, rowOf(model)]);
    providers[provider] = Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return { source, columns: COLUMNS, providers };
}

function rowOf(model) {
  const free = FREE.test(model.id);
  const { cost } = model;
  const row = [positive(model.contextWindow), positive(model.maxTokens), ...ratesOf(cost, free)];
  const tiers = (cost.tiers ?? [])
    .filter((tier) => ratesOf(tier, free)[0] !== null)
    .sort((a, b) => a.inputTokensAbove - b.inputTokensAbove)
    .map((tier) => [tier.inputTokensAbove, ...ratesOf(tier, free)]);
  return tiers.length === 0 ? row : [...row, tiers];
}

function ratesOf({ input, output, cacheRead, cacheWrite }, free) {
  const known = [input, output, cacheRead, cacheWrite].map((rate) => (rate === 0 && !free ? null : (rate ?? null)));
  // A price for one direction only is no price.
  return known[0] === null || known[1] === null ? [null, null, null, null] : known;
}

const positive = (count) => (typeof count === "number" && count > 0 ? count : null);

/** One model a line, so that a change of the source is a change of lines. */
export function tableText(table) {
  const providers = Object.entries(table.providers).map(([provider, models]) => {
    const lines = Object.entries(models).map(([id, row]) => `      ${JSON.stringify(id)}: ${JSON.stringify(row)}`);
    return `    ${JSON.stringify(provider)}: {\n${lines.join(",\n")}\n    }`;
  });
  const head = `  "source": ${JSON.stringify(table.source)},\n  "columns": ${JSON.stringify(table.columns)}`;
  return `{\n${head},\n  "providers": {\n${providers.join(",\n")}\n  }\n}\n`;
}

const SECOND_NAMES = {
  input: "inputPer1MTokens",
  output: "outputPer1MTokens",
  read: "cacheReadPer1MTokens",
  write: "cacheWritePer1MTokens",
};

/**
 * Where a second package knows another price for a model that both have: `{model, field, ours, theirs}`. A price that only one
 * of them has is no contradiction; amounts that differ by less than one per cent are rounded.
 */
export function contradictions(providers, second) {
  const found = [];
  for (const [provider, models] of Object.entries(providers)) {
    for (const [id, [, , input, output, read, write]] of Object.entries(models)) {
      const theirs = second[provider]?.[id];
      if (theirs === undefined) continue;
      for (const [field, ours] of Object.entries({ input, output, read, write })) {
        const other = theirs[SECOND_NAMES[field]] || null;
        if (ours === null || other === null || Math.abs(ours - other) <= 0.01 * ours) continue;
        found.push({ model: `${provider}/${id}`, field, ours, theirs: other });
      }
    }
  }
  return found;
}
