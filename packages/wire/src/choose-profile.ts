import { unreachable } from "@varve/protocol";
import type { Profile } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { deepseek, deepseekLegacy, deepseekV4, deepseekVision } from "./profiles/deepseek.ts";
import { google, googleLegacy } from "./profiles/google.ts";
import { local } from "./profiles/local.ts";
import { mistral } from "./profiles/mistral.ts";
import { openaiChat, openaiChatPlain } from "./profiles/openai-chat.ts";
import { openaiCompatible } from "./profiles/openai-compatible.ts";
import { openaiResponses, openaiResponsesPlain } from "./profiles/openai-responses.ts";
import { openrouter } from "./profiles/openrouter.ts";

/**
 * How a credential is spoken to: which protocol, not which company. `openai` is the Responses API, `local` a
 * compatible server on one's own network.
 */
export type WireDialect =
  | "anthropic"
  | "openai"
  | "openai-chat"
  | "google"
  | "deepseek"
  | "openrouter"
  | "openai-compatible"
  | "local";

const strictTemplates = /(^|[/:_-])((mi|mini|magi|dev|code)stral|mixtral|pixtral|gemma)/i;
const reasoningReplayed = /(^|[/:_-])deepseek-(v4|flash|pro)/i;
/** DeepSeek's own names, as its adapter tells them. */
const deepseekFour = /deepseek-v4|^deepseek-(flash|pro)/;
const deepseekSees = /vision|^deepseek-flash/;
/** Before GPT-5.6 a breakpoint is an unknown parameter. Names that say no number are of newer families. */
const withoutBreakpoints = /^(gpt-[1-4]|gpt-5(\.[0-5])?(-|$)|o\d|chatgpt|codex|chat-latest|computer-use|ft:)/;
/** The line that the adapter draws: names of Gemini that it doesn't know count as newer ones. */
const gemini = /(^|\/)gemini-/i;
const beforeGemini3 = /(^|\/)(gemini-[12]([.-]|$)|gemini-pro(-vision)?$|gemini-robotics-er-1\.5([.-]|$))/i;

/** Depends on its two arguments alone, so that a tab on one model never changes the form of its requests. */
export function chooseProfile(dialect: WireDialect, model: string): Profile {
  switch (dialect) {
    case "anthropic":
      return anthropic;
    case "openai":
      return withoutBreakpoints.test(model) ? openaiResponsesPlain : openaiResponses;
    case "openai-chat":
      return withoutBreakpoints.test(model) ? openaiChatPlain : openaiChat;
    case "google":
      return gemini.test(model) && !beforeGemini3.test(model) ? google : googleLegacy;
    case "deepseek":
      return deepseekOf(model);
    case "openrouter":
      return openrouter;
    case "openai-compatible":
      return compatible(model, openaiCompatible);
    case "local":
      return compatible(model, local);
    default:
      return unreachable(dialect);
  }
}

function deepseekOf(model: string): Profile {
  if (!deepseekFour.test(model)) return deepseekLegacy;
  return deepseekSees.test(model) ? deepseekVision : deepseekV4;
}

/** Names that are known to need more than a server of their kind does, wherever it stands. */
function compatible(model: string, usual: Profile): Profile {
  if (strictTemplates.test(model)) return mistral;
  if (reasoningReplayed.test(model)) return deepseek;
  return usual;
}
