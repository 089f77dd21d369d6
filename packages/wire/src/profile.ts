/**
 * A profile says how one kind of provider wants its prompt: data and small pure functions, no state. A profile is
 * chosen by provider and model id alone, so a tab's requests never change form while it runs.
 */
import type { JsonObject, ThinkingData } from "@varve/protocol";
import type { ReasoningPart } from "./model-message.ts";

export type ProfileName = "anthropic" | "openai-compatible" | "deepseek" | "mistral";

export interface Profile {
  readonly name: ProfileName;
  /** The profile whose constants in the prefix row serve this one. */
  readonly constantsOf: "anthropic" | "openai-compatible";
  /** One system message per block, or all joined by a blank line into one (templates that allow a single one). */
  readonly systemBlocks: "separate" | "joined";
  /** What a call's input is: the parsed object, or the model's own text wherever the adapter passes texts through. */
  readonly callInput: "object" | "text";
  /** A note as user text in `<system-note>`, or as a system message in place. */
  readonly noteForm: "user" | "system";
  /** The template refuses user after user and user after tool: a constant assistant message goes between. */
  readonly strictAlternation: boolean;
  /** Images of a tool's result stand in the result, or in a user message behind the tool message. */
  readonly resultImages: "in-result" | "behind";
  /** Whether PDF files can be sent as they are. */
  readonly pdf: boolean;
  /** Whether requests carry explicit cache breakpoints. */
  readonly breakpoints: boolean;
  callId(id: string): string;
  isCallId(id: string): boolean;
  /** The part that replays this thinking, or null when it may not be sent. Scope, epoch and `partial` are checked before. */
  replay(thinking: ThinkingData): ReasoningPart | null;
}

/** Whom a fold is for. */
export interface WireTarget {
  readonly profile: Profile;
  /** The provider's model id. */
  readonly model: string;
  /** Thinking is replayed only where its row's `modelScope` equals this. */
  readonly modelScope: string;
}

/** `<profile>:<provider's model id>`: what the assembler writes beside thinking, and a fold compares. */
export const modelScopeOf = (profile: Profile, model: string): string => `${profile.name}:${model}`;

export const wireTarget = (profile: Profile, model: string): WireTarget => ({
  profile,
  model,
  modelScope: modelScopeOf(profile, model),
});

/** Reads `metadata[provider][key]`, or `metadata[key]` where the metadata was stored flat. Empty texts are no token. */
export function tokenIn(metadata: JsonObject | undefined, provider: string, key: string): string | null {
  const nested = metadata?.[provider];
  const inner = typeof nested === "object" && nested !== null && !Array.isArray(nested) ? nested : {};
  // The guard above leaves a JSON object; a readonly list is excluded by `Array.isArray`.
  const value = (inner as JsonObject)[key] ?? metadata?.[key];
  return typeof value === "string" && value !== "" ? value : null;
}
