import type { Profile } from "../profile.ts";
import { isNineCharCallId, nineCharCallId } from "../wire-ids.ts";
import { openaiCompatible } from "./openai-compatible.ts";

/** Templates of the Mistral and Gemma families: strict alternation, and ids of exactly nine letters or digits. */
export const mistral: Profile = {
  ...openaiCompatible,
  name: "mistral",
  strictAlternation: true,
  callId: nineCharCallId,
  isCallId: isNineCharCallId,
};
