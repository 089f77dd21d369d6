import type { JsonObject, ThinkingData } from "@varve/protocol";
import type { ReasoningPart } from "../model-message.ts";
import { type Profile, tokenIn } from "../profile.ts";
import { wellFormedText } from "../well-formed.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";

const signatureIn = (metadata: JsonObject | undefined): string | null =>
  tokenIn(metadata, "google", "thoughtSignature");

/** A thought without text is dropped by the adapter, signed or not, so it is no part of ours either. */
function replay(thinking: ThinkingData): ReasoningPart | null {
  const thoughtSignature = signatureIn(thinking.metadata);
  if (thoughtSignature === null || !/\S/.test(thinking.text)) return null;
  return { type: "reasoning", text: wellFormedText(thinking.text), providerOptions: { google: { thoughtSignature } } };
}

/** Texts and calls carry signatures of their own; of parallel calls only the first does. */
function replayMetadata(metadata: JsonObject): JsonObject | null {
  const thoughtSignature = signatureIn(metadata);
  return thoughtSignature === null ? null : { google: { thoughtSignature } };
}

/** The vendor's documented word for a call whose signature is not there, as after a change of models. */
const unsigned = "skip_thought_signature_validator";

/** Gemini 3 and later: the first call of each step must be signed, and pictures may stand inside a result. */
export const google: Profile = {
  name: "google",
  constantsOf: "google",
  optionsKey: "google",
  systemBlocks: "separate",
  callInput: "object",
  noteForm: "user",
  strictAlternation: false,
  resultImages: "in-result",
  errorPrefix: "ERROR: ",
  images: true,
  pdf: true,
  breakpoints: "none",
  systemMark: null,
  warmUp: null,
  accountBound: false,
  callId: plainCallId,
  isCallId: isPlainCallId,
  replayMetadata,
  unsignedCall: { google: { thoughtSignature: unsigned } },
  replay,
  stepOptions: () => null,
  standIn: null,
};

/** Before Gemini 3: no signature is demanded, and a picture inside a result would break the count of responses. */
export const googleLegacy: Profile = { ...google, resultImages: "behind", unsignedCall: null };
