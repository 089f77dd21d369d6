/** A model for tests that plays given parts, one answer per request, behind the product's own port. */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Clock, Fault, ModelInfo } from "@varve/protocol";
import { fault } from "@varve/protocol";
import { anthropic, wireTarget } from "@varve/wire";
import type { ModelFacts } from "../model/facts.ts";
import { unknownFacts } from "../model/facts.ts";
import type { ResolvedModel } from "../model/model.ts";
import { streamModel } from "../model/provider-model.ts";

type Part = LanguageModelV3StreamPart;
type FinishReason = Extract<Part, { type: "finish" }>["finishReason"]["unified"];
type GoodPart = Exclude<Part, { type: "error" }>;

/** `hang`: nothing more comes and the stream stays open. `throw`: the stream breaks. `end`: it closes. */
export type ScriptedPart = Part | { readonly type: "hang" } | { readonly type: "throw"; readonly error: unknown };
export type Answer = readonly ScriptedPart[] | { readonly refuse: unknown };

export const say = (text: string, id = "t"): readonly GoodPart[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: text },
  { type: "text-end", id },
];
export const call = (toolCallId: string, toolName: string, args: unknown): GoodPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: typeof args === "string" ? args : JSON.stringify(args),
});
/** Fixed figures unless `input` is given: then all of it is fresh. */
export const finish = (unified: FinishReason = "stop", told?: { input: number; output: number }): GoodPart => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage:
    told === undefined
      ? {
          inputTokens: { total: 10, noCache: 7, cacheRead: 2, cacheWrite: 1 },
          outputTokens: { total: 5, text: 5, reasoning: undefined },
        }
      : {
          inputTokens: { total: told.input, noCache: told.input, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: told.output, text: told.output, reasoning: undefined },
        },
});

export interface ScriptModel {
  readonly requests: LanguageModelV3CallOptions[];
  readonly models: {
    readonly resolve: (id: string) => Promise<ResolvedModel | Fault>;
    readonly redact: (text: string) => string;
  };
}

const info: ModelInfo = {
  id: "script/m",
  label: "m",
  provider: "script",
  available: true,
  contextTokens: null,
  prices: null,
};

export type Answering = (call: LanguageModelV3CallOptions, index: number) => Answer | undefined;

/** `answers` in order, or by a function; a request without one is refused with a plain 400-like error. */
export function scriptModel(
  clock: Clock,
  answers: readonly Answer[] | Answering,
  options: { readonly idleMs?: number; readonly facts?: ModelFacts } = {},
): ScriptModel {
  const requests: LanguageModelV3CallOptions[] = [];
  const model: LanguageModelV3 = {
    specificationVersion: "v3",
    provider: "script",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async (call) => {
      requests.push(call);
      const index = requests.length - 1;
      const answer = (typeof answers === "function" ? answers(call, index) : answers[index]) ?? {
        refuse: { message: "no answer is left", type: "invalid_request" },
      };
      if ("refuse" in answer) throw answer.refuse;
      return { stream: playing(answer) };
    },
  };
  const idleMs = options.idleMs ?? 120_000;
  const rules = { clock, idleMs, firstMs: idleMs, redact: (text: string) => text };
  const resolved: ResolvedModel = {
    info,
    facts: options.facts ?? unknownFacts,
    generate: () =>
      Promise.resolve({ kind: "failed", failure: { code: "internal", message: "only streams", retry: null } }),
    target: wireTarget(anthropic, "m"),
    stream: (call) => streamModel(async () => model, call, rules),
  };
  return {
    requests,
    models: {
      resolve: async (id) => (id === info.id ? resolved : fault("unknown-model", `There is no model "${id}".`)),
      redact: (text) => text,
    },
  };
}

function playing(parts: readonly ScriptedPart[]): ReadableStream<Part> {
  let at = 0;
  return new ReadableStream<Part>(
    {
      pull(controller) {
        const part = parts[at++];
        if (part === undefined) return controller.close();
        if (part.type === "throw") return controller.error(part.error);
        if (part.type === "hang") return new Promise(() => undefined);
        controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
}
