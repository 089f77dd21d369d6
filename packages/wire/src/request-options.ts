/** The call options of a request beside its prompt, read from the frozen prefix and from nowhere else. */
import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import type { Effort, Json, JsonObject, PrefixData, ToolDefinition } from "@varve/protocol";
import type { CacheTtl } from "./breakpoints.ts";
import { canonicalJson, sha256 } from "./digest.ts";
import { providerJson } from "./model-message.ts";
import type { WireTarget } from "./profile.ts";
import { laterConstants } from "./profile-constants.ts";
import { isList, isObject } from "./well-formed.ts";

export type RequestOptions = Pick<
  LanguageModelV3CallOptions,
  "tools" | "toolChoice" | "maxOutputTokens" | "providerOptions"
>;

/** Pure. An effort that the prefix doesn't know is the default one. */
export function requestOptions(prefix: PrefixData, target: WireTarget, effort: Effort): RequestOptions {
  const constants = constantsFor(prefix, target);
  const family = familyOf(constants, target.model);
  const own = providerJson({
    ...betasOf(constants),
    ...objectOf(constants.options),
    ...objectOf(family.options),
    ...(prefix.tools.length > 0 && objectOf(family.toolOptions)),
    ...effortOptions(family, effort),
  });
  const limit = family.maxOutputTokens;
  return {
    ...(prefix.tools.length > 0 && { tools: prefix.tools.map((tool) => functionTool(tool, constants)) }),
    ...(prefix.tools.length > 0 && { toolChoice: { type: "auto" } }),
    ...(typeof limit === "number" && { maxOutputTokens: limit }),
    providerOptions: { [target.profile.optionsKey]: own },
  };
}

export interface CacheLifetimes {
  readonly ttl: CacheTtl;
  readonly systemTtl: CacheTtl;
}
/** `chosen`: what a newer row of the log says; it wins over the prefix, for the system prompt too. */
export function cacheLifetimes(prefix: PrefixData, target: WireTarget, chosen?: CacheTtl): CacheLifetimes {
  if (chosen !== undefined) return { ttl: chosen, systemTtl: chosen };
  const { cacheTtl, systemCacheTtl } = constantsFor(prefix, target);
  return { ttl: cacheTtl === "1h" ? "1h" : "5m", systemTtl: systemCacheTtl === "1h" ? "1h" : "5m" };
}

/** Names what else decides whether a cache entry can be read: model, tools and call options. 32 hex digits. */
export function scopeHashOf(options: RequestOptions, target: WireTarget): string {
  const tools = (options.tools ?? []).map((tool) => JSON.stringify(tool));
  const provider = JSON.stringify(options.providerOptions ?? {});
  return sha256(canonicalJson([target.profile.name, target.model, provider, tools])).slice(0, 32);
}

function constantsFor(prefix: PrefixData, target: WireTarget): JsonObject {
  const { constants, foldVersion } = prefix;
  const { constantsOf } = target.profile;
  return (
    (Object.hasOwn(constants, constantsOf) ? constants[constantsOf] : laterConstants(foldVersion, constantsOf)) ?? {}
  );
}

function familyOf(constants: JsonObject, model: string): JsonObject {
  const models = listOf(constants.models);
  for (const entry of models) {
    const [match, family] = listOf(entry);
    if (typeof match !== "string" || typeof family !== "string" || !model.includes(match)) continue;
    return objectOf(objectOf(constants.families)[family]);
  }
  return {};
}

function effortOptions(family: JsonObject, effort: Effort): JsonObject {
  const efforts = objectOf(family.efforts);
  return objectOf(efforts[effort] ?? efforts.default);
}

function betasOf(constants: JsonObject): JsonObject {
  return constants.betas === undefined ? {} : { anthropicBeta: constants.betas };
}

const listOf = (value: Json | undefined): readonly Json[] => (value !== undefined && isList(value) ? value : []);
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** In the order of the prefix, as an array: an object would move names that look like integers to the front. */
function functionTool(tool: ToolDefinition, constants: JsonObject): LanguageModelV3FunctionTool {
  const { name, description } = tool;
  // A tool's schema is checked JSON Schema of our own making; the provider's type is only narrower in its spelling.
  const inputSchema = tool.inputSchema as LanguageModelV3FunctionTool["inputSchema"];
  return {
    type: "function",
    name,
    description,
    inputSchema,
    ...(constants.strictTools === false && { strict: false }),
    ...(constants.eagerInputStreaming === true && { providerOptions: { anthropic: { eagerInputStreaming: true } } }),
  };
}
