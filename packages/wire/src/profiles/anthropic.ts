import type { ThinkingData } from "@varve/protocol";
import type { ReasoningPart } from "../model-message.ts";
import { type Profile, tokenIn } from "../profile.ts";
import { wellFormedText } from "../well-formed.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";

/** Only what the vendor signed or sealed goes back; the text of a signed block may be empty, and often is. */
function replay(thinking: ThinkingData): ReasoningPart | null {
  const signature = tokenIn(thinking.metadata, "anthropic", "signature");
  if (signature !== null) {
    const text = wellFormedText(thinking.text);
    return { type: "reasoning", text, providerOptions: { anthropic: { signature } } };
  }
  const redactedData = tokenIn(thinking.metadata, "anthropic", "redactedData");
  if (redactedData === null) return null;
  return { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData } } };
}

/** Notes stay user text: a system message in mid-conversation is refused by some models and needs a pinned beta. */
export const anthropic: Profile = {
  name: "anthropic",
  constantsOf: "anthropic",
  optionsKey: "anthropic",
  systemBlocks: "separate",
  callInput: "object",
  noteForm: "user",
  strictAlternation: false,
  resultImages: "in-result",
  errorPrefix: "",
  images: true,
  pdf: true,
  breakpoints: "tails",
  systemMark: null,
  warmUp: "no-output",
  accountBound: false,
  callId: plainCallId,
  isCallId: isPlainCallId,
  replayMetadata: () => null,
  unsignedCall: null,
  replay,
  stepOptions: () => null,
  standIn: null,
};
