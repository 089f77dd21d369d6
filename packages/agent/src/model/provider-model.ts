/**
 * The model port over a provider package's `doStream`. It never throws and never hangs: the iteration ends after exactly
 * one of `finish`, `failure` or `cancelled`, also when the package goes on for ever, ends without a word or throws.
 */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Clock } from "@varve/protocol";
import { startsMessage } from "../begun-usage.ts";
import { cutFailure, failureOf, silentFailure } from "./failure.ts";
import type { ModelPart } from "./model.ts";

export interface StreamRules {
  readonly clock: Clock;
  /** Silence after which a stream counts as dead; and the longer one until the first part (a local model reads first). */
  readonly idleMs: number;
  readonly firstMs: number;
  readonly redact: (text: string) => string;
}

type Heard =
  | { readonly kind: "opened"; readonly reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> }
  | { readonly kind: "part"; readonly part: LanguageModelV3StreamPart }
  | { readonly kind: "end" }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "aborted" }
  | { readonly kind: "silent"; readonly ms: number };

/** The silence is measured in ticks, so that a fast stream costs no timer per part. */
const ticksOfSilence = 4;

export async function* streamModel(
  open: () => Promise<LanguageModelV3>,
  options: LanguageModelV3CallOptions,
  rules: StreamRules,
): AsyncGenerator<ModelPart, void, undefined> {
  const ear = new Ear(options.abortSignal, rules);
  try {
    const first = await ear.hear(() => openStream(open, options, ear.signal));
    if (first.kind !== "opened") {
      yield lastWord(first, rules);
      return;
    }
    ear.reader = first.reader;
    for (;;) {
      const heard = await ear.hear(() => readPart(first.reader));
      // Raw events are a sign of life where the package swallows pings; one tells what a stream costs that then breaks off.
      if (heard.kind === "part" && heard.part.type === "raw" && !startsMessage(heard.part.rawValue)) continue;
      if (heard.kind !== "part" || heard.part.type === "error" || !isClean(heard.part)) {
        yield lastWord(heard, rules);
        return;
      }
      yield heard.part;
      if (heard.part.type === "finish") return;
    }
  } finally {
    ear.close();
  }
}

/** A finish that the provider did not mean: its stream broke and the package papered over it. */
const isClean = (part: LanguageModelV3StreamPart): boolean =>
  part.type !== "finish" ||
  (part.finishReason.unified !== "error" && part.finishReason.unified !== "other" && !isGuessed(part));

/** OpenRouter's package calls a stream finished that ended behind a call without a word; its service always gives one. */
const isGuessed = (part: Extract<LanguageModelV3StreamPart, { type: "finish" }>): boolean =>
  part.providerMetadata?.openrouter !== undefined && part.finishReason.raw === undefined;

function lastWord(heard: Heard, rules: StreamRules): ModelPart {
  switch (heard.kind) {
    case "aborted":
      return { type: "cancelled" };
    case "silent":
      return { type: "failure", failure: silentFailure(heard.ms) };
    case "error":
      return { type: "failure", failure: failureOf(heard.error, rules.redact) };
    case "part":
      if (heard.part.type === "error") return { type: "failure", failure: failureOf(heard.part.error, rules.redact) };
      return { type: "failure", failure: cutFailure };
    default:
      return { type: "failure", failure: cutFailure };
  }
}

async function openStream(
  open: () => Promise<LanguageModelV3>,
  options: LanguageModelV3CallOptions,
  abortSignal: AbortSignal,
): Promise<Heard> {
  const model = await open();
  const { stream } = await model.doStream({ ...options, abortSignal, includeRawChunks: true });
  return { kind: "opened", reader: stream.getReader() };
}

async function readPart(reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart>): Promise<Heard> {
  const { done, value } = await reader.read();
  return done ? { kind: "end" } : { kind: "part", part: value };
}

/** Waits for one thing at a time, and is told by abort and silence, whichever comes first. */
class Ear {
  reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> | null = null;
  readonly #own = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #rules: StreamRules;
  readonly signal: AbortSignal;
  #settle: ((heard: Heard) => void) | null = null;
  #quietTicks = 0;
  #limitMs: number;
  #timer: { cancel(): void } | null = null;

  constructor(outer: AbortSignal | undefined, rules: StreamRules) {
    this.#outer = outer;
    this.#rules = rules;
    this.#limitMs = rules.firstMs;
    this.signal = this.#own.signal;
    outer?.addEventListener("abort", this.#onAbort);
    this.#arm();
  }

  hear(work: () => Promise<Heard>): Promise<Heard> {
    if (this.#outer?.aborted === true) return Promise.resolve({ kind: "aborted" });
    return new Promise((resolve) => {
      this.#quietTicks = 0;
      this.#settle = (heard) => {
        this.#settle = null;
        resolve(heard);
      };
      work().then(
        (heard) => {
          if (heard.kind === "part") this.#began();
          this.#settle?.(heard);
        },
        // An abort surfaces as some error of the package: the signal says what it really was.
        (error: unknown) =>
          this.#settle?.(this.#outer?.aborted === true ? { kind: "aborted" } : { kind: "error", error }),
      );
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#outer?.removeEventListener("abort", this.#onAbort);
    this.#settle = null;
    if (this.#outer?.aborted === true) return;
    this.#own.abort();
    this.reader?.cancel().catch(() => undefined); // The stream is given up: how it ends is of no interest.
  }

  /** A stop: the request is aborted behind its stream, for a package may let go of a promise that the abort rejects. */
  readonly #onAbort = (): void => {
    this.#settle?.({ kind: "aborted" });
    const abort = (): void => this.#own.abort();
    if (this.reader === null) abort();
    else this.reader.cancel().then(abort, abort);
  };

  /** The first part has come: from now on the shorter limit holds. */
  #began(): void {
    if (this.#limitMs === this.#rules.idleMs || this.#timer === null) return;
    this.#limitMs = this.#rules.idleMs;
    this.#timer.cancel();
    this.#arm();
  }

  /** Time counts only while something is waited for: a reader that is slow to come back is not the provider's silence. */
  #arm(): void {
    this.#timer = this.#rules.clock.setTimer(Math.max(1, this.#limitMs / ticksOfSilence), () => {
      this.#quietTicks = this.#settle === null ? 0 : this.#quietTicks + 1;
      if (this.#quietTicks > ticksOfSilence) this.#settle?.({ kind: "silent", ms: this.#limitMs });
      else this.#arm();
    });
  }
}
