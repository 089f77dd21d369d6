import type { JsonObject, ThinkingData } from "@varve/protocol";
import type { ReasoningPart } from "../model-message.ts";
import { metadataOf, type Profile, tokenIn } from "../profile.ts";
import { wellFormedText } from "../well-formed.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";

/**
 * Reasoning goes back as what the vendor encrypted. One reasoning item may have come as several summaries, each a block of
 * its own; the item's id, which all of them carry, is how the adapter makes one item of them again. No other item keeps its id.
 */
function replay(thinking: ThinkingData): ReasoningPart | null {
  const reasoningEncryptedContent = tokenIn(thinking.metadata, "openai", "reasoningEncryptedContent");
  if (reasoningEncryptedContent === null) return null;
  const itemId = tokenIn(thinking.metadata, "openai", "itemId");
  const openai = { ...(itemId === null ? {} : { itemId }), reasoningEncryptedContent };
  return { type: "reasoning", text: wellFormedText(thinking.text), providerOptions: { openai } };
}

/** Newer models tell comments from the final answer, and want that back. */
function replayMetadata(metadata: JsonObject): JsonObject | null {
  const { phase } = metadataOf(metadata, "openai");
  return phase === "commentary" || phase === "final_answer" ? { openai: { phase } } : null;
}

/** Models that write to the cache only where a breakpoint stands, or at the request's end. Those before GPT-5.6 know none. */
export const explicitBreakpoint: JsonObject = { openai: { promptCacheBreakpoint: { mode: "explicit" } } };

/** OpenAI's Responses API without any state at the vendor: the whole conversation goes with each request. */
export const openaiResponses: Profile = {
  name: "openai-responses",
  constantsOf: "openai",
  optionsKey: "openai",
  systemBlocks: "joined",
  callInput: "text",
  noteForm: "system",
  strictAlternation: false,
  resultImages: "in-result",
  errorPrefix: "ERROR: ",
  images: true,
  pdf: true,
  breakpoints: "system",
  systemMark: explicitBreakpoint,
  warmUp: null,
  accountBound: true,
  callId: plainCallId,
  isCallId: isPlainCallId,
  replayMetadata,
  unsignedCall: null,
  replay,
  stepOptions: () => null,
  standIn: null,
};

/** Models that cache by themselves and know no breakpoints. */
export const openaiResponsesPlain: Profile = { ...openaiResponses, breakpoints: "none", systemMark: null };
