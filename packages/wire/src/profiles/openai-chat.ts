import type { Profile } from "../profile.ts";
import { isPlainCallId, plainCallId } from "../wire-ids.ts";
import { explicitBreakpoint } from "./openai-responses.ts";

/**
 * Chat Completions at OpenAI itself. Reasoning can't be replayed there, an error has no flag, and a picture inside a result
 * would be sent as its JSON text.
 */
export const openaiChat: Profile = {
  name: "openai-chat",
  constantsOf: "openai",
  optionsKey: "openai",
  systemBlocks: "joined",
  callInput: "text",
  noteForm: "system",
  strictAlternation: false,
  resultImages: "behind",
  errorPrefix: "",
  images: true,
  pdf: true,
  breakpoints: "system",
  systemMark: explicitBreakpoint,
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

export const openaiChatPlain: Profile = { ...openaiChat, breakpoints: "none", systemMark: null };
