/**
 * A profile says how one kind of provider wants its prompt: data and small pure functions, no state. A profile is
 * chosen by provider and model id alone, so a tab's requests never change form while it runs.
 */
import type { JsonObject, PrefixData, ThinkingData } from "@varve/protocol";
import type { AssistantPart, ProviderOptions, ReasoningPart } from "./model-message.ts";
import { isObject } from "./well-formed.ts";

export type ProfileName =
  | "anthropic"
  | "openai-responses"
  | "openai-chat"
  | "google"
  | "deepseek"
  | "openrouter"
  | "mistral"
  | "openai-compatible"
  | "local";
/** The key of a prefix row's `constants`: what was frozen for this kind of provider. */
export type ConstantsName =
  | "anthropic"
  | "openai"
  | "google"
  | "deepseek"
  | "openrouter"
  | "openai-compatible"
  | "local";

export interface Profile {
  readonly name: ProfileName;
  /** The profile whose constants in the prefix row serve this one. */
  readonly constantsOf: ConstantsName;
  /** The key of `providerOptions` that the provider package reads. */
  readonly optionsKey: string;
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
  /** Stands in front of an error result's text where the wire has no flag for it; "" where it has, or where released bytes have none. */
  readonly errorPrefix: string;
  /** Whether pictures can be sent at all; where not, a constant text says so. */
  readonly images: boolean;
  /** Whether PDF files can be sent as they are. */
  readonly pdf: boolean;
  /**
   * Explicit cache breakpoints. `tails`: S, T2, T1, T0 (Anthropic). `system`: one on the system message, in every request, so that
   * its form never changes (OpenAI, OpenRouter). `none`: the provider caches by itself.
   */
  readonly breakpoints: "tails" | "system" | "none";
  /** Provider options that mark the system message, with `breakpoints: "system"`. */
  readonly systemMark: JsonObject | null;
  /** How an idle tab's entry is kept alive: the last body again, without output. Null: there is no way. */
  readonly warmUp: "no-output" | null;
  /** What came for replay can be read by the account alone that it was given to; another's request would be refused for it. */
  readonly accountBound: boolean;
  callId(id: string): string;
  isCallId(id: string): boolean;
  /** Provider options of a call or text part that replay its metadata (Gemini's thought signatures), or null. Scope and epoch are checked before. */
  replayMetadata(metadata: JsonObject): JsonObject | null;
  /** Provider options of a step's first call that has none of its own to replay, or null. Gemini 3 demands a signature there. */
  readonly unsignedCall: JsonObject | null;
  /** The part that replays this thinking, or null when it may not be sent. Scope, epoch and `partial` are checked before. */
  replay(thinking: ThinkingData): ReasoningPart | null;
  /**
   * Options of a step's message that say once more what its parts say, under a name that the adapter does not write by itself; or
   * null. They follow from the parts, so the chain of hashes leaves them out.
   */
  stepOptions(parts: readonly AssistantPart[]): ProviderOptions | null;
  /**
   * Serves logs whose prefix row holds no constants of this profile: their bytes stay what they were before it existed. Null where
   * a table of constants does that.
   */
  readonly standIn: Profile | null;
}

/** Whom a fold is for. */
export interface WireTarget {
  readonly profile: Profile;
  /** The provider's model id. */
  readonly model: string;
  /** Thinking is replayed only where its row's `modelScope` equals this. */
  readonly modelScope: string;
}

/** `<profile>:<provider's model id>`, and `@<account>` where that matters: what the assembler writes beside thinking, and a fold compares. */
export const modelScopeOf = (profile: Profile, model: string): string => `${profile.name}:${model}`;

/** `account`: which of several at one provider, where there is more than the usual one. */
export const wireTarget = (profile: Profile, model: string, account: string | null = null): WireTarget => ({
  profile,
  model,
  modelScope:
    account === null || !profile.accountBound
      ? modelScopeOf(profile, model)
      : `${modelScopeOf(profile, model)}@${account}`,
});

/**
 * Whom the requests of a log are made for while this prefix row is in force. The scope of thinking stays the asked one, which is
 * what is written beside it: a stand-in sends none, and with the next prefix row another epoch begins.
 */
export function targetUnder(prefix: Pick<PrefixData, "constants"> | null, target: WireTarget): WireTarget {
  const { standIn, constantsOf } = target.profile;
  if (standIn === null || prefix === null || Object.hasOwn(prefix.constants, constantsOf)) return target;
  return { ...target, profile: standIn };
}

/** The object under a provider's name, empty when there is none. */
export function metadataOf(metadata: JsonObject | undefined, provider: string): JsonObject {
  const nested = metadata?.[provider];
  return isObject(nested) ? nested : {};
}

/** Reads `metadata[provider][key]`, or `metadata[key]` where the metadata was stored flat. Empty texts are no token. */
export function tokenIn(metadata: JsonObject | undefined, provider: string, key: string): string | null {
  const value = metadataOf(metadata, provider)[key] ?? metadata?.[key];
  return typeof value === "string" && value !== "" ? value : null;
}
