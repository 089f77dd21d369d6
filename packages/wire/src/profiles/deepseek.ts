import type { Profile } from "../profile.ts";
import { wellFormedText } from "../well-formed.ts";
import { openaiCompatible } from "./openai-compatible.ts";

/** DeepSeek V4 demands the reasoning of every tool turn in all later requests, and has no token for it. */
export const deepseek: Profile = {
  ...openaiCompatible,
  name: "deepseek",
  callInput: "object",
  replay: (thinking) => (/\S/.test(thinking.text) ? { type: "reasoning", text: wellFormedText(thinking.text) } : null),
};
