/**
 * Call options of Anthropic models as a new log freezes them. Everything here is data that goes into the prefix row;
 * a request reads it from there and never from this file, so an upgrade changes nothing for open tabs.
 */
import type { Effort, JsonObject } from "@varve/protocol";

type EffortOptions = Readonly<Record<Effort, JsonObject>>;
interface Family extends JsonObject {
  readonly maxOutputTokens: number;
  /** What goes into the provider's options, by effort. */
  readonly efforts: EffortOptions & JsonObject;
}

/** Thinking that runs by the model's own choice; shown as a summary, since newer models otherwise leave it empty. */
const adaptiveThinking = { type: "adaptive", display: "summarized" } as const;
/** A block whose prefix doesn't match is dropped and reported, where the default would make the request fail. */
const bound = { ...adaptiveThinking, blockBinding: { prefixMismatchBehavior: "drop_block" } } as const;

const byEffort = (thinking: JsonObject): EffortOptions => ({
  default: { thinking },
  low: { thinking, effort: "low" },
  medium: { thinking, effort: "medium" },
  high: { thinking, effort: "high" },
});
/** Older models take a budget in tokens, and drop thinking from the cache at each human turn: off unless asked for. */
const budget = (budgetTokens: number): JsonObject => ({ thinking: { type: "enabled", budgetTokens } });

const families: Readonly<Record<string, Family>> = {
  bound: { maxOutputTokens: 32_000, efforts: byEffort(bound) },
  adaptive: { maxOutputTokens: 32_000, efforts: byEffort(adaptiveThinking) },
  budget: {
    maxOutputTokens: 32_000,
    efforts: { default: {}, low: budget(4096), medium: budget(8192), high: budget(16_384) },
  },
  plain: { maxOutputTokens: 16_384, efforts: { default: {}, low: {}, medium: {}, high: {} } },
};

/** The first text that the model id contains decides; longer names stand before those that they contain. */
const models: readonly (readonly [match: string, family: string])[] = [
  ["claude-opus-5-5", "bound"],
  ["claude-sonnet-5-5", "bound"],
  ["claude-haiku-5-5", "bound"],
  ["claude-fable-5-1", "bound"],
  ["claude-mythos-5-1", "bound"],
  // Dates of the first release begin like the number of a later one.
  ["claude-fable-5-20", "adaptive"],
  ["claude-mythos-5-20", "adaptive"],
  ["claude-fable-5-2", "bound"],
  ["claude-mythos-5-2", "bound"],
  ["claude-fable-5", "adaptive"],
  ["claude-mythos-5", "adaptive"],
  ["claude-opus-5", "adaptive"],
  ["claude-sonnet-5", "adaptive"],
  ["claude-opus-4-8", "adaptive"],
  ["claude-opus-4-7", "adaptive"],
  ["claude-opus-4-6", "adaptive"],
  ["claude-sonnet-4-6", "adaptive"],
  ["claude-opus-4-5", "budget"],
  ["claude-sonnet-4-5", "budget"],
  ["claude-haiku-4-5", "budget"],
  ["", "plain"],
];

export const anthropicConstants: JsonObject = {
  toolChoice: "auto",
  /** Sets the flag that streaming would set, so that streamed and plain requests have the same tool bytes. */
  eagerInputStreaming: true,
  /** A superset from the first request on: a set that grew with the content would restart the cache. */
  betas: ["pdfs-2024-09-25"],
  cacheTtl: "5m",
  systemCacheTtl: "5m",
  models,
  families,
};
