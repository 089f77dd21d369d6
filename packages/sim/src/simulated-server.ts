/**
 * What the simulations hand to a real workspace in place of a provider and a machine: models that only stream what a script
 * says, and a place in which nothing is found. One piece, so that they run the same server.
 */
import { decide, type ModelRegistry, type ResolvedModel, unknownFacts } from "@varve/agent";
import type { createWorkspace } from "@varve/server/parts";
import { anthropic, wireTarget } from "@varve/wire";

/** A model of the product's own port that speaks what `stream` yields, and nothing in one piece. */
export const simulatedModel = (id: string, stream: ResolvedModel["stream"]): ResolvedModel => ({
  info: { id, label: id, provider: "sim", available: true, contextTokens: null, prices: null },
  facts: unknownFacts,
  target: wireTarget(anthropic, "m"),
  generate: async () => ({ kind: "failed", failure: { code: "internal", message: "only streams", retry: null } }),
  stream,
});

/** A registry that finds models by `resolve` alone. It knows no credential and lists nothing. */
export const simulatedModels = (defaultModel: string, resolve: ModelRegistry["resolve"]): ModelRegistry => ({
  resolve,
  list: async () => ({ models: [], default: defaultModel, demoOnly: false, recognised: [] }),
  credentials: () => [],
  setOverrides: () => undefined,
  setStored: () => undefined,
  check: async () => null,
  localServers: async () => [],
  secretEnv: [],
  redact: (text) => text,
});

/** Options of a workspace that no simulation varies. */
export const simulatedPlace = {
  context: {
    readText: async () => null,
    list: async () => null,
    place: async () => null,
    repository: async () => null,
    system: "test",
    shell: "none",
  },
  decide,
  rules: () => [],
  keepRules: () => null,
  home: "/home/none",
  directory: async (path: string) => path,
  facts: () => unknownFacts,
  offsetAt: () => 0,
  strict: true,
} satisfies Partial<Parameters<typeof createWorkspace>[0]>;
