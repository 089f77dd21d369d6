import type { JsonObject } from "../json.ts";
import type { InputFigures } from "./reply-stream.ts";

export type CompletionsDialect = "openai" | "deepseek" | "openrouter";

/** Dollars a token, for answers that tell what they cost: input, read, written, output. */
export const OPENROUTER_PRICES = { input: 4e-6, read: 0.4e-6, written: 5e-6, output: 20e-6 } as const;

export interface CompletionsFigures {
  readonly dialect: CompletionsDialect;
  readonly billsWrites: boolean;
  readonly input: InputFigures;
  readonly output: number;
  readonly reasoning: number;
}

/** The usage of an answer in each house's words. OpenRouter counts what was written in the prompt and tells it beside. */
export function completionsUsage({ dialect, billsWrites, input, output, reasoning }: CompletionsFigures): JsonObject {
  const written = input.write5m + input.write1h;
  const prompt = input.fresh + input.read + written;
  const totals = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
  const details = { completion_tokens_details: { reasoning_tokens: reasoning } };
  switch (dialect) {
    case "openai": {
      const writes = billsWrites ? { cache_write_tokens: written } : {};
      return { ...totals, prompt_tokens_details: { cached_tokens: input.read, ...writes }, ...details };
    }
    case "deepseek":
      return {
        ...totals,
        prompt_tokens_details: { cached_tokens: input.read },
        prompt_cache_hit_tokens: input.read,
        prompt_cache_miss_tokens: prompt - input.read,
        ...details,
      };
    case "openrouter":
      return {
        ...totals,
        prompt_tokens_details: { cached_tokens: input.read, cache_write_tokens: written },
        cost: costOf(input, written, output),
        ...details,
      };
  }
}

function costOf(input: InputFigures, written: number, output: number): number {
  const price = OPENROUTER_PRICES;
  return input.fresh * price.input + input.read * price.read + written * price.written + output * price.output;
}
