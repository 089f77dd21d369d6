/** Which vendor's rules a body must pass, by the profile that it was made for. */
import type { Profile } from "@varve/wire";
import { anthropicProblem } from "./provider/anthropic-rules.ts";
import {
  deepseekProblem,
  gatewayProblem,
  localProblem,
  mistralProblem,
  openrouterProblem,
} from "./provider/dialect-rules.ts";
import { geminiProblem } from "./provider/gemini-rules.ts";
import { openaiProblem } from "./provider/openai-rules.ts";
import { responsesProblem } from "./provider/responses-rules.ts";

export type WireProblem = (body: unknown, model: string) => string | null;

const problems: Readonly<Record<Profile["name"], WireProblem>> = {
  anthropic: (body) => anthropicProblem(body),
  "openai-responses": (body) => responsesProblem(body),
  "openai-chat": (body) => openaiProblem(body),
  google: geminiProblem,
  deepseek: (body) => deepseekProblem(body),
  openrouter: (body) => openrouterProblem(body),
  mistral: (body) => mistralProblem(body),
  "openai-compatible": (body) => gatewayProblem(body),
  local: (body) => localProblem(body),
};

/** Behind a compatible server DeepSeek V4 is what that server makes of it: only DeepSeek itself demands reasoning everywhere. */
export function wireProblemOf({ name, constantsOf }: Pick<Profile, "name" | "constantsOf">): WireProblem {
  return name === "deepseek" && constantsOf === "openai-compatible" ? openaiProblem : problems[name];
}
