import type { Profile } from "../profile.ts";
import { wellFormedText } from "../well-formed.ts";
import { openaiCompatible } from "./openai-compatible.ts";

/**
 * DeepSeek V4 behind a server that speaks plain Chat Completions. It demands the reasoning of every tool turn in all later
 * requests, and has no token for it.
 */
export const deepseek: Profile = {
  ...openaiCompatible,
  name: "deepseek",
  callInput: "object",
  replay: (thinking) => (/\S/.test(thinking.text) ? { type: "reasoning", text: wellFormedText(thinking.text) } : null),
};

/** The same at DeepSeek itself, through its own adapter: that one fills in the field where a step has no reasoning. */
export const deepseekV4: Profile = {
  ...deepseek,
  constantsOf: "deepseek",
  optionsKey: "deepseek",
  images: false,
};

/** A V4 model that can see. */
export const deepseekVision: Profile = { ...deepseekV4, images: true };

/**
 * Models before V4. Their adapter takes the reasoning out of every turn but the newest, so that a steer would change what
 * was sent before: it is never given any.
 */
export const deepseekLegacy: Profile = { ...deepseekV4, replay: () => null };
