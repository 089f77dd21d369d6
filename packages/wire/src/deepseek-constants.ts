import type { JsonObject } from "@varve/protocol";

/**
 * Call options of DeepSeek's own service as a new log freezes them. V4 thinks by itself; three of its efforts are ours,
 * under its own names, since the adapter warns about any other.
 */
export const deepseekConstants: JsonObject = {
  toolChoice: "auto",
  models: [
    ["deepseek-v4", "four"],
    ["deepseek-flash", "four"],
    ["deepseek-pro", "four"],
    ["", "plain"],
  ],
  families: {
    four: {
      efforts: {
        default: {},
        low: { reasoningEffort: "low" },
        medium: { reasoningEffort: "high" },
        high: { reasoningEffort: "max" },
      },
    },
    plain: { efforts: { default: {}, low: {}, medium: {}, high: {} } },
  },
};
