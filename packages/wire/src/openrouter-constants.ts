import type { JsonObject } from "@varve/protocol";

const effort = (name: string): JsonObject => ({ reasoning: { effort: name } });

/**
 * Call options of OpenRouter as a new log freezes them, in its own spelling, for its adapter passes them on as they are: the
 * automatic breakpoint at the end of each request, and the bill with each answer. No order of houses is named, since that
 * would take away the routing to the house that holds the cache.
 */
export const openrouterConstants: JsonObject = {
  toolChoice: "auto",
  options: { cache_control: { type: "ephemeral" }, usage: { include: true } },
  models: [["", "any"]],
  families: {
    any: { efforts: { default: {}, low: effort("low"), medium: effort("medium"), high: effort("high") } },
  },
};
