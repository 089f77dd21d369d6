/** Which constants a new log freezes for each profile, and which ones serve logs that were begun before a profile existed. */
import type { JsonObject } from "@varve/protocol";
import { anthropicConstants } from "./anthropic-constants.ts";
import type { CacheTtl } from "./breakpoints.ts";
import { deepseekConstants } from "./deepseek-constants.ts";
import { googleConstants } from "./google-constants.ts";
import { localConstants, openaiCompatibleConstants, openaiConstants } from "./openai-constants.ts";
import { openrouterConstants } from "./openrouter-constants.ts";
import type { ConstantsName } from "./profile.ts";
import { isObject } from "./well-formed.ts";

/** `cacheKey` null: tabs share a cache only as far as the provider finds that out by itself. */
export function defaultConstants(
  cacheTtl: CacheTtl,
  cacheKey: string | null,
): Readonly<Record<ConstantsName, JsonObject>> {
  return {
    anthropic: { ...anthropicConstants, cacheTtl, systemCacheTtl: cacheTtl },
    openai: withOption(openaiConstants, "promptCacheKey", cacheKey),
    google: googleConstants,
    deepseek: deepseekConstants,
    openrouter: withOption(openrouterConstants, "session_id", cacheKey),
    "openai-compatible": openaiCompatibleConstants,
    local: localConstants,
  };
}

function withOption(constants: JsonObject, key: string, value: string | null): JsonObject {
  if (value === null) return constants;
  return { ...constants, options: { ...(isObject(constants.options) ? constants.options : {}), [key]: value } };
}

/**
 * Prefixes of fold 1 may hold the constants of two profiles alone. What stands here serves them for ever: when the constants
 * of new logs change, these keep what they are. Older logs on a local server have none: their profile has a stand-in.
 */
const laterThanFold1: Readonly<Record<string, JsonObject>> = {
  openai: openaiConstants,
  google: googleConstants,
  deepseek: deepseekConstants,
  openrouter: openrouterConstants,
};

/** Constants that a prefix of that version doesn't hold; undefined when there are none to know of. */
export function laterConstants(foldVersion: number, name: ConstantsName): JsonObject | undefined {
  if (foldVersion !== 1) return undefined;
  return Object.hasOwn(laterThanFold1, name) ? laterThanFold1[name] : undefined;
}
