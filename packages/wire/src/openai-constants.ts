import type { JsonObject } from "@varve/protocol";

/**
 * Call options of Chat Completions as a new log freezes them. Nothing is set that a small local server might refuse:
 * no output limit, no parallel flag, and an effort only when a person chose one.
 */
export const openaiCompatibleConstants: JsonObject = {
  toolChoice: "auto",
  models: [["", "plain"]],
  families: {
    plain: {
      efforts: {
        default: {},
        low: { reasoningEffort: "low" },
        medium: { reasoningEffort: "medium" },
        high: { reasoningEffort: "high" },
      },
    },
  },
};
