import type { Json, JsonObject, ThinkingData } from "@varve/protocol";
import { providerOptionsOf, type ReasoningPart } from "../model-message.ts";
import { metadataOf, type Profile } from "../profile.ts";
import { isList, isObject, wellFormedObject, wellFormedText } from "../well-formed.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";

/** Houses whose reasoning in plain text is only taken back signed; a detail that names no house counts as Anthropic's. */
const signedFormats: ReadonlySet<Json | undefined> = new Set([
  undefined,
  null,
  "anthropic-claude-v1",
  "google-gemini-v1",
]);

/** The adapter throws unsigned ones out, with a word on the console; so they are not handed to it. */
const isReplayable = (detail: Json): detail is JsonObject =>
  isObject(detail) &&
  (detail.type !== "reasoning.text" || !signedFormats.has(detail.format) || typeof detail.signature === "string");

function replayMetadata(metadata: JsonObject): JsonObject | null {
  const given = metadataOf(metadata, "openrouter").reasoning_details;
  const details = given !== undefined && isList(given) ? given.filter(isReplayable).map(wellFormedObject) : [];
  return details.length === 0 ? null : { openrouter: { reasoning_details: details } };
}

/** Without its details a text of reasoning would be dropped. Where the step calls tools, its first call carries the same ones. */
function replay(thinking: ThinkingData): ReasoningPart | null {
  const details = replayMetadata(thinking.metadata ?? {});
  if (details === null) return null;
  return { type: "reasoning", text: wellFormedText(thinking.text), providerOptions: providerOptionsOf(details) };
}

/**
 * OpenRouter sends on to many houses. One breakpoint on the system message, in every request, and an automatic one at the
 * end (a top-level option): further ones would change messages from texts to lists and stand on every parallel result.
 */
export const openrouter: Profile = {
  name: "openrouter",
  constantsOf: "openrouter",
  optionsKey: "openrouter",
  systemBlocks: "joined",
  callInput: "object",
  noteForm: "user",
  strictAlternation: false,
  resultImages: "behind",
  errorPrefix: "",
  images: true,
  pdf: true,
  breakpoints: "system",
  systemMark: { openrouter: { cacheControl: { type: "ephemeral" } } },
  warmUp: null,
  accountBound: false,
  callId: plainCallId,
  isCallId: isPlainCallId,
  replayMetadata,
  unsignedCall: null,
  replay,
  stepOptions: () => null,
  standIn: null,
};
