/**
 * The model of a simulated world: answers are drawn from the seed, part by part, each part an event. It speaks the product's own
 * port, so the loop, the fold and the retries are the real ones.
 */
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";
import type { ModelFailure, ModelPart, ModelRegistry, ResolvedModel } from "@varve/agent";
import { fault } from "@varve/protocol";
import type { Prng } from "../prng.ts";
import { simulatedModel, simulatedModels } from "../simulated-server.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";
import { Violation } from "./violation.ts";

const partScale = 15;
const prefix = "sim/";

export interface ModelWorld {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  /** Counts calls over the whole world: the id of a call is never used again. */
  readonly calls: { made: number };
  /** From here on every answer is a short text. */
  readonly mood: { calm: boolean };
  /** How many tabs use the model of this name now. */
  readonly tabsOf: (model: string) => number;
  readonly broken: (error: unknown) => void;
}

type Part = Exclude<LanguageModelV3StreamPart, { type: "error" }>;
type Last = Part | { readonly type: "failure"; readonly failure: ModelFailure } | { readonly type: "silence" };

/** The models of one process. */
export function scriptedModels(world: ModelWorld, life: Lifetime): ModelRegistry {
  /** Requests under way, by model. */
  const open = new Map<string, number>();
  const resolve = async (id: string): Promise<ResolvedModel | ReturnType<typeof fault>> => {
    if (!id.startsWith(prefix)) return fault("unknown-model", `There is no model "${id}".`);
    return simulatedModel(id, (options) => streamed(world, life, { id, open, options }));
  };
  return simulatedModels(`${prefix}none`, resolve);
}

async function* streamed(
  world: ModelWorld,
  life: Lifetime,
  request: {
    readonly id: string;
    readonly open: Map<string, number>;
    readonly options: LanguageModelV3CallOptions;
  },
): AsyncGenerator<ModelPart, void, undefined> {
  const { id, open, options } = request;
  const count = (open.get(id) ?? 0) + 1;
  open.set(id, count);
  if (count > Math.max(1, world.tabsOf(id))) {
    world.broken(new Violation("one request", `${count} requests of ${id} are open at once`));
  }
  try {
    for (const part of answer(world)) {
      const waitMs = part.type === "silence" ? 45_000 : world.latency.draw(partScale);
      if ((await waited(world.queue, { waitMs, life, signal: options.abortSignal })) === "aborted") {
        yield { type: "cancelled" };
        return;
      }
      if (part.type === "silence") {
        const message = "Nothing came.";
        yield { type: "failure", failure: { code: "provider-silent", message, retry: { afterMs: null } } };
        return;
      }
      yield part;
      if (part.type === "finish" || part.type === "failure") return;
    }
  } finally {
    open.set(id, (open.get(id) ?? 1) - 1);
  }
}

/** Waits as an event, unless the signal comes first. */
export function waited(
  queue: EventQueue,
  what: {
    readonly waitMs: number;
    readonly life: Lifetime;
    readonly signal: AbortSignal | undefined;
    readonly kind?: string;
  },
): Promise<"over" | "aborted"> {
  const { signal, waitMs, life, kind = "model" } = what;
  if (signal?.aborted === true) return Promise.resolve("aborted");
  return new Promise((resolve) => {
    const aborted = (): void => {
      event.cancel();
      resolve("aborted");
    };
    const event = queue.after(waitMs, { kind, life }, () => {
      signal?.removeEventListener("abort", aborted);
      resolve("over");
    });
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

const words = ["one ", "two ", "and ", "three", "😀", "né ", "\n", "x", "`code` ", "漢字 "] as const;

function* answer(world: ModelWorld): Generator<Last> {
  const { prng, mood } = world;
  if (mood.calm) {
    yield { type: "text-start", id: "a" };
    yield { type: "text-delta", id: "a", delta: `well, ${prng.pick(words)}` };
    yield { type: "text-delta", id: "a", delta: "that is all" };
    yield { type: "text-end", id: "a" };
    yield finish("stop");
    return;
  }
  const lot = prng.float();
  if (lot < 0.06) {
    yield failure("provider-overloaded", prng.chance(0.3) ? 1_500 : null);
    return;
  }
  if (lot < 0.08) {
    yield { type: "failure", failure: { code: "provider-refused", message: "That is no request.", retry: null } };
    return;
  }
  if (prng.chance(0.25)) yield* thinking(prng);
  if (lot > 0.97) {
    yield finish("stop"); // An answer without a word.
    return;
  }
  if (prng.chance(0.85)) yield* text(prng, "a", prng.int(1, 6));
  if (prng.chance(0.06)) {
    yield prng.chance(0.3) ? { type: "silence" } : failure("provider-cut", null);
    return;
  }
  if (prng.chance(0.1)) yield* text(prng, "b", prng.int(1, 2));
  const calls = prng.chance(0.45) ? prng.int(1, 3) : 0;
  for (let at = 0; at < calls; at += 1) yield call(world);
  yield finish(calls > 0 ? "tool-calls" : prng.chance(0.05) ? "length" : "stop");
}

function* text(prng: Prng, id: string, deltas: number): Generator<Part> {
  yield { type: "text-start", id };
  for (let at = 0; at < deltas; at += 1) {
    const delta = Array.from({ length: prng.int(1, 5) }, () => prng.pick(words)).join("");
    const cut = delta.indexOf("😀");
    // Now and then a pair is cut in half by the provider.
    if (cut >= 0 && prng.chance(0.5)) {
      yield { type: "text-delta", id, delta: delta.slice(0, cut + 1) };
      yield { type: "text-delta", id, delta: delta.slice(cut + 1) };
    } else yield { type: "text-delta", id, delta };
  }
  yield { type: "text-end", id };
}

function* thinking(prng: Prng): Generator<Part> {
  yield { type: "reasoning-start", id: "r" };
  yield { type: "reasoning-delta", id: "r", delta: "let me see " };
  if (prng.chance(0.5)) yield { type: "reasoning-delta", id: "r", delta: "what there is" };
  const signature = `S${prng.uint32()}`;
  yield { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature } } };
}

const tools = ["work", "work", "look", "look", "write", "fail", "ask"] as const;

function call(world: ModelWorld): Part {
  const { prng, calls } = world;
  calls.made += 1;
  const toolName = prng.pick(tools);
  const input = prng.chance(0.04) ? '{"broken' : JSON.stringify({ at: prng.int(0, 2) });
  return { type: "tool-call", toolCallId: `call-${calls.made}`, toolName, input };
}

const failure = (code: ModelFailure["code"], afterMs: number | null): Last => ({
  type: "failure",
  failure: { code, message: "It broke off.", retry: { afterMs } },
});

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 10, noCache: 7, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const finish = (unified: "stop" | "length" | "tool-calls"): Part => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage,
});
