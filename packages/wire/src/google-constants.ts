import type { JsonObject } from "@varve/protocol";

/** Thoughts are shown, as a summary, wherever a model thinks. */
const level = (thinkingLevel: string): JsonObject => ({ thinkingConfig: { includeThoughts: true, thinkingLevel } });
const budget = (thinkingBudget: number): JsonObject => ({ thinkingConfig: { includeThoughts: true, thinkingBudget } });
const shown: JsonObject = { thinkingConfig: { includeThoughts: true } };

/** The first text that the model id contains decides. */
const models: JsonObject[string] = [
  ["-image", "plain"],
  ["-tts", "plain"],
  ["computer-use", "plain"],
  ["gemini-2.5", "budget"],
  ["gemini-3-pro", "low-or-high"],
  ["gemini-3", "level"],
  ["gemini-4", "level"],
  ["gemini-5", "level"],
  ["gemini-pro-latest", "level"],
  ["gemini-flash-latest", "level"],
  ["gemini-flash-lite-latest", "level"],
  ["", "plain"],
];

/** Call options of Gemini as a new log freezes them. No output limit: the vendor's own is the model's. */
export const googleConstants: JsonObject = {
  toolChoice: "auto",
  models,
  families: {
    level: { efforts: { default: shown, low: level("low"), medium: level("medium"), high: level("high") } },
    "low-or-high": { efforts: { default: shown, low: level("low"), medium: shown, high: level("high") } },
    budget: { efforts: { default: shown, low: budget(2048), medium: budget(8192), high: budget(24_576) } },
    plain: { efforts: { default: {}, low: {}, medium: {}, high: {} } },
  },
};
