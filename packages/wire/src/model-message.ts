/**
 * What the fold produces. The model is called through the provider's `doStream` (spec V3), so the provider's own prompt
 * message is our model message and no adapter stands between the fold and the wire.
 */
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { JsonObject } from "@varve/protocol";

export type ModelMessage = LanguageModelV3Message;
export type UserPart = LanguageModelV3TextPart | LanguageModelV3FilePart;
export type ReasoningPart = LanguageModelV3ReasoningPart;
export type CallPart = LanguageModelV3ToolCallPart;
export type ResultPart = LanguageModelV3ToolResultPart;
export type AssistantPart = LanguageModelV3TextPart | ReasoningPart | CallPart;
export type ProviderOptions = SharedV3ProviderOptions;
export type ProviderJson = SharedV3ProviderOptions[string];

/** Hands frozen JSON to the provider's types. */
export function providerJson(value: JsonObject): ProviderJson {
  // This cast can't lie: both types are plain JSON; ours only adds `readonly`, and providers never write to options.
  return value as ProviderJson;
}

/** The same for options of several providers, by name. */
export function providerOptionsOf(value: JsonObject): ProviderOptions {
  // This cast can't lie for what profiles hand over: an object of objects, each plain JSON.
  return value as ProviderOptions;
}
