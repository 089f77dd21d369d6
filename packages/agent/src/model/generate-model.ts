/**
 * One request that is not streamed, over a provider package's `doGenerate`. It never throws and never hangs: silence for too
 * long is a failure, and so is whatever the package throws.
 */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import { failureOf, silentFailure } from "./failure.ts";
import type { Generated } from "./model.ts";
import type { StreamRules } from "./provider-model.ts";

export async function generateModel(
  open: () => Promise<LanguageModelV3>,
  options: LanguageModelV3CallOptions,
  rules: StreamRules,
): Promise<Generated> {
  const outer = options.abortSignal;
  if (outer?.aborted === true) return { kind: "cancelled" };
  const own = new AbortController();
  const abortSignal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
  let settleEarly: (generated: Generated) => void = () => undefined;
  const early = new Promise<Generated>((resolve) => {
    settleEarly = resolve;
  });
  const onAbort = (): void => settleEarly({ kind: "cancelled" });
  outer?.addEventListener("abort", onAbort);
  // An answer that is not streamed gives no sign of life before its end, so the longer limit holds.
  const timer = rules.clock.setTimer(rules.firstMs, () =>
    settleEarly({ kind: "failed", failure: silentFailure(rules.firstMs) }),
  );
  try {
    return await Promise.race([answer(open, { ...options, abortSignal }, rules), early]);
  } finally {
    timer.cancel();
    outer?.removeEventListener("abort", onAbort);
    own.abort();
  }
}

async function answer(
  open: () => Promise<LanguageModelV3>,
  options: LanguageModelV3CallOptions,
  rules: StreamRules,
): Promise<Generated> {
  try {
    const model = await open();
    const result = await model.doGenerate(options);
    return { kind: "generated", text: textOf(result), usage: result.usage };
  } catch (error) {
    return { kind: "failed", failure: failureOf(error, rules.redact) };
  }
}

const textOf = ({ content }: LanguageModelV3GenerateResult): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");
