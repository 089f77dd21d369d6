/** Call options of OpenAI's models and of everything that speaks Chat Completions, as a new log freezes them. */
import type { JsonObject } from "@varve/protocol";

/**
 * Chat Completions elsewhere. Nothing is set that a small local server might refuse: no output limit, no parallel flag, and
 * an effort only when a person chose one.
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

/**
 * A server on one's own network. The switch reaches the template: those that know it keep thinking where it was made, others and
 * servers without templates pay no heed.
 */
export const localConstants: JsonObject = {
  ...openaiCompatibleConstants,
  options: { chat_template_kwargs: { preserve_thinking: true } },
};

/** The role of the system message is said outright, so that no later adapter decides otherwise for an open tab. */
const reasons: JsonObject = {
  forceReasoning: true,
  systemMessageMode: "developer",
  include: ["reasoning.encrypted_content"],
};
const plainOptions: JsonObject = { forceReasoning: false, systemMessageMode: "system" };
const summarised: JsonObject = { ...reasons, reasoningSummary: "auto" };
const threeEfforts: JsonObject = {
  default: {},
  low: { reasoningEffort: "low" },
  medium: { reasoningEffort: "medium" },
  high: { reasoningEffort: "high" },
};

/** The first text that the model id contains decides; longer names stand before those that they contain. */
const models: JsonObject[string] = [
  ["gpt-5-chat", "plain"],
  ["-chat-latest", "fixed"],
  ["gpt-5-pro", "high"],
  ["o1-pro", "quiet"],
  ["o3-pro", "quiet"],
  ["-pro", "patient"],
  ["gpt-5", "reasoning"],
  ["gpt-6", "reasoning"],
  ["gpt-7", "reasoning"],
  ["gpt-daybreak", "reasoning"],
  ["gpt-4", "plain"],
  ["gpt-3", "plain"],
  ["o1", "quiet"],
  ["o3", "quiet"],
  ["o4", "quiet"],
  ["", "plain"],
];

/** Nothing is kept at the vendor: what is needed again comes back encrypted and goes out with each request. */
export const openaiConstants: JsonObject = {
  toolChoice: "auto",
  /** Said outright: by default the vendor would make every optional parameter of a tool a required one. */
  strictTools: false,
  options: { store: false },
  models,
  families: {
    reasoning: { options: summarised, toolOptions: { parallelToolCalls: true }, efforts: threeEfforts },
    high: { options: summarised, efforts: { default: {}, low: {}, medium: {}, high: { reasoningEffort: "high" } } },
    /** The larger forms of later models think long or longer, and refuse to think little. */
    patient: {
      options: summarised,
      efforts: {
        default: {},
        low: { reasoningEffort: "medium" },
        medium: { reasoningEffort: "medium" },
        high: { reasoningEffort: "high" },
      },
    },
    fixed: { options: summarised, efforts: { default: {}, low: {}, medium: {}, high: {} } },
    /** The first reasoning models: no summaries without a verified account, and some know no parallel calls. */
    quiet: { options: reasons, efforts: threeEfforts },
    plain: { options: plainOptions, efforts: { default: {}, low: {}, medium: {}, high: {} } },
  },
};
