/**
 * The demo model: small, deterministic, no AI and no key, behind the same port as every other model. It reads the request
 * (tool definitions, results, what a person said), plans with the plain rules of `demo-plan/`, and calls the real tools.
 * It says that it is a demo. There is no canned answer: everything it says derives from the request.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";
import type { Clock, ModelInfo } from "@varve/protocol";
import { nextMove } from "./demo-plan/choose.ts";
import type { Move } from "./demo-plan/move.ts";
import { viewOf } from "./demo-plan/view.ts";
import { type ModelFacts, unknownFacts } from "./facts.ts";

const nothing = { input: 0, output: 0, read: 0, write5m: 0, write1h: 0 } as const;
/** It runs here, so that what it costs is known: nothing. */
export const demoFacts: ModelFacts = { ...unknownFacts, prices: { ...nothing, tiers: [] } };

export const demoInfo: ModelInfo = {
  id: "demo/demo",
  label: "Demo model",
  provider: "demo",
  available: true,
  note: "Plain rules, no AI: it shows how Varve works, with the real tools.",
  contextTokens: null,
  prices: nothing,
};

export interface DemoOptions {
  readonly clock: Clock;
  /** Pause between two deltas; 0: none. */
  readonly delayMs: number;
}

/** Characters of a delta, about: it ends where a word does. */
const deltaChars = 12;

export function createDemoModel(options: DemoOptions): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "demo",
    modelId: "demo",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("the demo model only streams")),
    doStream: async (call) => streamOf(partsOf(call), options, call.abortSignal),
  };
}

/** The whole answer as stream parts: thinking, then text, then calls, then the finish. Pure. */
export function partsOf(call: LanguageModelV3CallOptions): readonly LanguageModelV3StreamPart[] {
  const view = viewOf(call);
  const move = nextMove(view);
  return [
    { type: "stream-start", warnings: [] },
    ...thinking(move.think),
    ...text(move.say),
    ...move.calls.flatMap((one, index) => toolCall(one, `demo_${view.callsBefore + index + 1}`)),
    finish(move),
  ];
}

function thinking(words: string): readonly LanguageModelV3StreamPart[] {
  if (words === "") return [];
  const id = "thinking-0";
  return [
    { type: "reasoning-start", id },
    ...pieces(words).map((delta) => ({ type: "reasoning-delta" as const, id, delta })),
    { type: "reasoning-end", id },
  ];
}

function text(words: string): readonly LanguageModelV3StreamPart[] {
  if (words === "") return [];
  const id = "text-0";
  return [
    { type: "text-start", id },
    ...pieces(words).map((delta) => ({ type: "text-delta" as const, id, delta })),
    { type: "text-end", id },
  ];
}

function toolCall(call: Move["calls"][number], id: string): readonly LanguageModelV3StreamPart[] {
  const input = JSON.stringify(call.args);
  return [
    { type: "tool-input-start", id, toolName: call.name },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName: call.name, input },
  ];
}

function finish(move: Move): LanguageModelV3StreamPart {
  return {
    type: "finish",
    finishReason: { unified: move.calls.length > 0 ? "tool-calls" : "stop", raw: undefined },
    // It has no tokens, and says so by saying nothing.
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
  };
}

function pieces(words: string): readonly string[] {
  return words.match(new RegExp(`[\\s\\S]{1,${deltaChars}}(?=\\s|$)|[\\s\\S]{1,${deltaChars}}`, "g")) ?? [];
}

function streamOf(
  parts: readonly LanguageModelV3StreamPart[],
  { clock, delayMs }: DemoOptions,
  signal: AbortSignal | undefined,
): LanguageModelV3StreamResult {
  let at = 0;
  const stream = new ReadableStream<LanguageModelV3StreamPart>(
    {
      async pull(controller) {
        const part = parts[at++];
        if (part === undefined || signal?.aborted === true) return controller.close();
        const paced = part.type === "text-delta" || part.type === "reasoning-delta";
        if (paced && delayMs > 0) await new Promise<void>((resolve) => void clock.setTimer(delayMs, resolve));
        controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream };
}
