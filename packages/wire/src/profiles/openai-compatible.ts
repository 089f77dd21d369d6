import type { Profile } from "../profile.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";

/**
 * Chat Completions as every gateway speaks it. Thinking is never sent: it carries no token, some
 * servers refuse the field, and templates that drop it from older turns would change what was sent before.
 */
export const openaiCompatible: Profile = {
  name: "openai-compatible",
  constantsOf: "openai-compatible",
  optionsKey: "openaiCompatible",
  systemBlocks: "joined",
  callInput: "text",
  noteForm: "user",
  strictAlternation: false,
  resultImages: "behind",
  errorPrefix: "",
  images: true,
  pdf: false,
  breakpoints: "none",
  systemMark: null,
  warmUp: null,
  accountBound: false,
  callId: plainCallId,
  isCallId: isPlainCallId,
  replayMetadata: () => null,
  unsignedCall: null,
  replay: () => null,
  stepOptions: () => null,
  standIn: null,
};
