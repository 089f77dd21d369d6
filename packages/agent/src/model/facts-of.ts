/** What is known of a model without asking anybody: from the generated table, the rules by hand, and a person's own word. */
import type { ProviderName } from "@varve/protocol";
import type { ModelFacts, ModelPrices, PriceOverrides, Rates } from "./facts.ts";
import { unknownFacts } from "./facts.ts";
import { cacheRule, longWriteFactor } from "./table/cache-rules.ts";
import type { TableRow } from "./table/row.ts";
import { tableRow } from "./table/table.ts";

export interface FactsOptions {
  /** What a person says of this model; each figure wins over the table's. */
  readonly override?: PriceOverrides[string] | undefined;
  /** The credential's address: tells which seller an OpenAI-compatible one is. */
  readonly baseUrl?: string | null | undefined;
}

/** Sellers behind an OpenAI-compatible address whose prices are in the table. Any other address has unknown ones. */
const sellers: Readonly<Record<string, string>> = {
  "api.mistral.ai": "mistral",
  "api.x.ai": "xai",
  "api.moonshot.ai": "moonshotai",
  "api.groq.com": "groq",
  "api.deepseek.com": "deepseek",
  "openrouter.ai": "openrouter",
};

/**
 * Exactly this id, else the id without its date, else (OpenRouter) the vendor's own id. Nothing known is `unknownFacts`: a
 * model on a person's own machine costs something too, and only they can say what.
 */
export function factsOf(provider: ProviderName, modelId: string, options: FactsOptions = {}): ModelFacts {
  const table = provider === "openai-compatible" ? sellerAt(options.baseUrl) : provider;
  const known = table === null ? unknownFacts : tableFacts(table, modelId.toLowerCase());
  return options.override === undefined ? known : overridden(known, options.override);
}

function sellerAt(baseUrl: string | null | undefined): string | null {
  if (baseUrl === null || baseUrl === undefined || !URL.canParse(baseUrl)) return null;
  const { hostname } = new URL(baseUrl);
  return Object.hasOwn(sellers, hostname) ? (sellers[hostname] ?? null) : null;
}

function tableFacts(table: string, id: string): ModelFacts {
  const own = rowOf(table, id);
  if (table !== "openrouter") return own === null ? unknownFacts : factsFrom(own, table, undated(id));
  const [vendor = "", ...rest] = id.split("/");
  const vendorId = vendorIdOf(vendor, rest.join("/"));
  const row = own ?? rowOf(vendor, vendorId);
  return row === null ? unknownFacts : factsFrom(row, vendor, undated(vendorId));
}

const rowOf = (table: string, id: string): TableRow | null => tableRow(table, id) ?? tableRow(table, undated(id));

/** `claude-sonnet-5-5-20261001`, `gpt-5.4-2026-03-05`, `claude-opus-4-5@20251101`, `claude-opus-4-8[1m]`, `claude-3-5-haiku-latest`. */
const undated = (id: string): string =>
  id.replace(/\[1m\]$/, "").replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, "");

/** OpenRouter writes a version with a point where Anthropic has a dash, and names variants behind a colon. */
function vendorIdOf(vendor: string, id: string): string {
  const plain = id.replace(/:.*$/, "");
  return vendor === "anthropic" ? plain.replaceAll(".", "-") : plain;
}

function factsFrom(row: TableRow, vendor: string, vendorId: string): ModelFacts {
  const [contextTokens, outputTokensMax, input, output, read, write, tiers = []] = row;
  const rates = (rate: { readonly [K in "input" | "output" | "read" | "write"]: number | null }): Rates => ({
    input: rate.input,
    output: rate.output,
    read: rate.read,
    write5m: rate.write,
    write1h: vendor === "anthropic" && rate.write !== null && rate.input !== null ? rate.input * longWriteFactor : null,
  });
  const prices: ModelPrices | null =
    input === null
      ? null
      : {
          ...rates({ input, output, read, write }),
          tiers: tiers.map(([above, ...tier]) => ({
            above,
            ...rates({ input: tier[0], output: tier[1], read: tier[2], write: tier[3] }),
          })),
        };
  return { contextTokens, outputTokensMax, prices, cache: cacheRule(vendor, vendorId) };
}

const noRates: Rates = { input: null, output: null, read: null, write5m: null, write1h: null };

/** A person's price holds for requests of any size, so that the table's tiers go with the first price of their own. */
function overridden(known: ModelFacts, { contextTokens, prices }: NonNullable<FactsOptions["override"]>): ModelFacts {
  return {
    ...known,
    contextTokens: contextTokens ?? known.contextTokens,
    prices: prices === undefined ? known.prices : { ...noRates, ...known.prices, ...prices, tiers: [] },
  };
}
