import type { Vendor } from "../provider/vendor.ts";
import { createBreakpointCache } from "./breakpoint-cache.ts";
import type { CacheModel } from "./cache-model.ts";
import { createCacheModel } from "./marked-cache.ts";
import {
  createPrefixCache,
  deepseekCache,
  geminiCache,
  localSlotCache,
  olderOpenaiCache,
  type PrefixCacheOptions,
} from "./prefix-cache.ts";

export interface CacheRules {
  /** Whether a prefix below the vendor's minimum is not kept. Default: false, so that small tests see their cache. */
  readonly minimumPrefix?: boolean;
  /** How Anthropic counts runs of calls and results in its look-back. Default: strict. */
  readonly positions?: "strict" | "collapsed";
  /** How many prompts a local server keeps. Default: all of them. */
  readonly localSlots?: number;
}

const OPENAI_MINIMUM = 1024;
const GEMINI_SMALL_MINIMUM = 2048;

/** The cache that stands behind a model of a vendor. */
export function createVendorCache(vendor: Vendor, model: string, rules: CacheRules = {}): CacheModel {
  const minimum = (tokens: number): number => (rules.minimumPrefix === true ? tokens : 0);
  const prefix = (options: PrefixCacheOptions): CacheModel =>
    createPrefixCache({ ...options, minPrefixTokens: minimum(options.minPrefixTokens) });
  switch (vendor) {
    case "anthropic":
      return createCacheModel({
        minPrefixTokens: minimum(anthropicMinimum(model)),
        positions: rules.positions ?? "strict",
      });
    case "openrouter":
      return createCacheModel({
        minPrefixTokens: minimum(anthropicMinimum(model)),
        positions: rules.positions ?? "strict",
      });
    case "google":
      return prefix({
        ...geminiCache,
        minPrefixTokens: model.includes("flash") ? GEMINI_SMALL_MINIMUM : geminiCache.minPrefixTokens,
      });
    case "deepseek":
      return prefix(deepseekCache);
    case "openai-responses":
    case "openai":
      if (billsWrites(model)) return createBreakpointCache({ minPrefixTokens: minimum(OPENAI_MINIMUM) });
      if (vendor === "openai-responses" || /^(gpt-|o\d)/.test(model)) return prefix(olderOpenaiCache);
      return prefix({ ...localSlotCache, slots: rules.localSlots ?? Number.POSITIVE_INFINITY });
  }
}

/** GPT-5.6 and later: writes are billed, and breakpoints count. */
export function billsWrites(model: string): boolean {
  const [, major = "0", minor = "0"] = /^gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 6);
}

/** Tokens below which a prefix is not kept, by the vendor's table. */
export function anthropicMinimum(model: string): number {
  const isOne = (...names: readonly string[]): boolean => names.some((name) => model.includes(name));
  if (isOne("opus-4-7", "opus-4.7")) return 2048;
  if (isOne("opus-4-6", "opus-4.6", "opus-4-5", "opus-4.5", "haiku-4-5", "haiku-4.5")) return 4096;
  if (isOne("opus-5", "fable-5")) return 512;
  return 1024;
}
