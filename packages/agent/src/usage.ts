/**
 * A provider's token figures as the data of a `usage` row: fresh + read + written is the whole input, whatever the provider's
 * package makes of it. Null where nothing was said: unknown is never 0.
 */
import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Json, JsonObject, SystemData } from "@varve/protocol";

export type UsageData = Extract<SystemData, { kind: "usage" }>;

export function usageData(usage: LanguageModelV3Usage, model: string): UsageData {
  const { inputTokens: input, outputTokens: output } = usage;
  const raw = toJson(usage.raw);
  const untold = raw === undefined && !input.total && !output.total;
  const read = untold ? null : readOf(input.cacheRead, raw);
  return {
    kind: "usage",
    model,
    // Not the package's own figure where there is a total: OpenRouter's still holds what was written.
    fresh: untold ? null : (remainder(input.total, read, input.cacheWrite) ?? input.noCache ?? null),
    read,
    ...(untold ? { write5m: null, write1h: null } : writes(input.cacheWrite, raw)),
    output: untold ? null : (output.total ?? null),
    reasoning: untold ? null : reasoningOf(output.reasoning, raw),
    price: null,
    attainable: null,
    ...(raw === undefined ? {} : { raw }),
  };
}

/** Anthropic alone tells writes by lifetime, and only in its raw figures; elsewhere all count as the short one. */
function writes(total: number | undefined, raw: JsonObject | undefined): Pick<UsageData, "write5m" | "write1h"> {
  const split = objectAt(raw, "cache_creation");
  const short = split?.ephemeral_5m_input_tokens;
  const long = split?.ephemeral_1h_input_tokens;
  if (typeof short === "number" && typeof long === "number") return { write5m: short, write1h: long };
  return { write5m: total ?? null, write1h: null };
}

/** Chat servers: the packages fill in 0 where the server says nothing, and DeepSeek has a name of its own for hits. */
function readOf(told: number | undefined, raw: JsonObject | undefined): number | null {
  if (raw === undefined || !isChat(raw)) return told ?? null;
  const hit = raw.prompt_cache_hit_tokens;
  if (typeof hit === "number") return hit;
  const cached = objectAt(raw, "prompt_tokens_details")?.cached_tokens;
  return typeof cached === "number" ? cached : null;
}

function reasoningOf(told: number | undefined, raw: JsonObject | undefined): number | null {
  if (raw === undefined || !isChat(raw)) return told ?? null;
  const reasoning = objectAt(raw, "completion_tokens_details")?.reasoning_tokens;
  return typeof reasoning === "number" ? reasoning : null;
}

const isChat = (raw: JsonObject): boolean => typeof raw.prompt_tokens === "number";

function objectAt(raw: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = raw?.[key];
  return value === undefined || value === null || typeof value !== "object" || isList(value) ? undefined : value;
}

/** `Array.isArray` does not narrow readonly arrays. */
const isList = (value: readonly Json[] | JsonObject): value is readonly Json[] => Array.isArray(value);

function remainder(total: number | undefined, read: number | null, write: number | undefined): number | null {
  return total === undefined ? null : Math.max(0, total - (read ?? 0) - (write ?? 0));
}

/** A copy that is JSON for certain. */
export function toJson(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // Text that JSON.stringify made of an object parses to JSON, and to an object.
  const copy = JSON.parse(JSON.stringify(value)) as Json;
  return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined;
}
