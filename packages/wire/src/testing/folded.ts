import { isFault, type StoredRow } from "@varve/protocol";
import type { ResolvedBlob } from "../blobs.ts";
import { chunksToModelMessages, type Fold } from "../fold.ts";
import { type WireTarget, wireTarget } from "../profile.ts";
import { anthropic } from "../profiles/anthropic.ts";
import { deepseek } from "../profiles/deepseek.ts";
import { mistral } from "../profiles/mistral.ts";
import { openaiCompatible } from "../profiles/openai-compatible.ts";

export const toAnthropic: WireTarget = wireTarget(anthropic, "model-a");
export const toCompatible: WireTarget = wireTarget(openaiCompatible, "model-a");
export const toDeepseek: WireTarget = wireTarget(deepseek, "model-a");
export const toMistral: WireTarget = wireTarget(mistral, "model-a");

/** One transparent pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const pixelBlob = (): ResolvedBlob => ({ base64: pixel });

/** The fold of rows that are known to have one. */
export function folded(rows: readonly StoredRow[], target: WireTarget = toAnthropic): Fold {
  const fold = chunksToModelMessages(rows, target, { blobs: pixelBlob });
  if (isFault(fold)) throw new Error(`${fold.code}: ${fold.message}`);
  return fold;
}
