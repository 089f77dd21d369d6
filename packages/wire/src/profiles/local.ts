import type { AssistantPart, ProviderOptions } from "../model-message.ts";
import type { Profile } from "../profile.ts";
import { deepseek } from "./deepseek.ts";
import { openaiCompatible } from "./openai-compatible.ts";

/**
 * The adapter writes thinking as `reasoning_content`. Newer releases of one widespread server read `reasoning` alone, so the same
 * text stands under both names.
 */
function thinkingAgain(parts: readonly AssistantPart[]): ProviderOptions | null {
  const reasoning = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
  return reasoning === "" ? null : { openaiCompatible: { reasoning } };
}

/**
 * A server on one's own network: llama.cpp, Ollama, vLLM, LM Studio. What it generated can be read from its cache only where the
 * template writes it again to the letter, so thinking goes back to the model that made it; there is no token for it. A frozen
 * switch keeps the template from taking it out of the turns before the newest message.
 */
export const local: Profile = {
  ...openaiCompatible,
  name: "local",
  constantsOf: "local",
  replay: deepseek.replay,
  stepOptions: thinkingAgain,
  standIn: openaiCompatible,
};
