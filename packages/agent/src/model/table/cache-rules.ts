/**
 * What no package knows, by hand: how long each provider's cache entries live and how long a prefix must be. Where a vendor
 * promises a range, its lower end stands here, so that a shortfall is called expired no sooner than it may be.
 */
import type { CacheFacts } from "../facts.ts";

const minute = 60_000;
const hour = 60 * minute;

/** By the start of the id, the first that fits: Anthropic's minimum prefix in tokens. */
const anthropicMinimums: readonly (readonly [prefix: string, tokens: number])[] = [
  ["claude-opus-5", 512],
  ["claude-fable", 512],
  ["claude-mythos", 512],
  ["claude-opus-4-8", 1024],
  ["claude-opus-4-7", 2048],
  ["claude-opus-4-6", 4096],
  ["claude-opus-4-5", 4096],
  ["claude-sonnet", 1024],
  ["claude-haiku", 4096],
  ["claude-3-5-haiku", 2048],
];
const anthropicMinimumDefault = 1024;

/** From this generation on OpenAI bills writes and keeps entries for at least half an hour. */
const openaiWithWrites = /^(gpt-(5\.[6-9]|[6-9]|[1-9]\d)|gpt-daybreak|daybreak)/;
/** Families that OpenAI never cached. */
const openaiWithout = /^(gpt-4(-|$)|gpt-3|o1-pro|o3-pro|gpt-[\d.]+-pro)/;

/** `id` is the vendor's own model id, in lower case with dashes for Anthropic. */
export function cacheRule(vendor: string, id: string): CacheFacts | null {
  switch (vendor) {
    case "anthropic": {
      const minTokens = anthropicMinimums.find(([prefix]) => id.startsWith(prefix))?.[1] ?? anthropicMinimumDefault;
      return { minTokens, shortMs: 5 * minute, longMs: hour };
    }
    case "openai":
      if (openaiWithout.test(id)) return null;
      return { minTokens: 1024, shortMs: openaiWithWrites.test(id) ? 30 * minute : 5 * minute, longMs: null };
    case "google":
      // Implicit caching, without a promise of any lifetime.
      return id.startsWith("gemini")
        ? { minTokens: id.includes("pro") ? 4096 : 2048, shortMs: 5 * minute, longMs: null }
        : null;
    case "deepseek":
      // On disk, in units of 64 tokens, for hours to days.
      return { minTokens: 64, shortMs: 2 * hour, longMs: null };
    default:
      return null;
  }
}

/** A write that lives for an hour costs twice the input; Anthropic alone sells it. */
export const longWriteFactor = 2;
