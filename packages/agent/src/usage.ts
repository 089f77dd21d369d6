/** A provider's token figures as the data of a `usage` row. Null where nothing was said: unknown is never 0. */
import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Json, JsonObject, SystemData } from "@varve/protocol";

export type UsageData = Extract<SystemData, { kind: "usage" }>;

export function usageData(usage: LanguageModelV3Usage, model: string): UsageData {
  const { inputTokens: input, outputTokens: output } = usage;
  const raw = toJson(usage.raw);
  const written = writes(input.cacheWrite, raw);
  const rest = remainder(input.total, input.cacheRead, input.cacheWrite);
  return {
    kind: "usage",
    model,
    fresh: input.noCache ?? rest,
    read: input.cacheRead ?? null,
    ...written,
    output: output.total ?? null,
    reasoning: output.reasoning ?? null,
    price: null,
    attainable: null,
    ...(raw === undefined ? {} : { raw }),
  };
}

/** Anthropic alone tells writes by lifetime, and only in its raw figures; elsewhere all count as the short one. */
function writes(total: number | undefined, raw: JsonObject | undefined): Pick<UsageData, "write5m" | "write1h"> {
  const split = raw?.cache_creation;
  if (typeof split === "object" && split !== null && !Array.isArray(split)) {
    const short = "ephemeral_5m_input_tokens" in split ? split.ephemeral_5m_input_tokens : undefined;
    const long = "ephemeral_1h_input_tokens" in split ? split.ephemeral_1h_input_tokens : undefined;
    if (typeof short === "number" && typeof long === "number") return { write5m: short, write1h: long };
  }
  return { write5m: total ?? null, write1h: null };
}

function remainder(total: number | undefined, read: number | undefined, write: number | undefined): number | null {
  return total === undefined ? null : Math.max(0, total - (read ?? 0) - (write ?? 0));
}

/** A copy that is JSON for certain. */
export function toJson(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // Text that JSON.stringify made of an object parses to JSON, and to an object.
  const copy = JSON.parse(JSON.stringify(value)) as Json;
  return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined;
}
