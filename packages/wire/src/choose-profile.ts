import type { Profile } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { deepseek } from "./profiles/deepseek.ts";
import { mistral } from "./profiles/mistral.ts";
import { openaiCompatible } from "./profiles/openai-compatible.ts";

/** How a credential is spoken to: which protocol, not which company. */
export type WireDialect = "anthropic" | "openai-compatible";

const strictTemplates = /(^|[/:_-])((mi|mini|magi|dev|code)stral|mixtral|pixtral|gemma)/i;
const reasoningReplayed = /(^|[/:_-])deepseek-(v4|flash|pro)/i;

/** Depends on its two arguments alone, so that a tab on one model never changes the form of its requests. */
export function chooseProfile(dialect: WireDialect, model: string): Profile {
  if (dialect === "anthropic") return anthropic;
  if (strictTemplates.test(model)) return mistral;
  if (reasoningReplayed.test(model)) return deepseek;
  return openaiCompatible;
}
