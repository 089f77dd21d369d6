import type { BillBody, Recording } from "@varve/protocol";
import { countText } from "../tab/usage.ts";
import { moneyText } from "./money-text.ts";

export const formatName: Readonly<Record<Recording["format"], string>> = { pi: "pi", "claude-code": "Claude Code" };

/** How much of a bill was paid for what had been sent before. */
export function rewrittenText({ tokens, price, share }: BillBody["rewritten"]): string {
  if (tokens === 0) return "Nothing of it was paid twice.";
  const what = `${countText(tokens)} tokens were paid again although they had been sent before`;
  if (price === null) return `${what}; at a price that is not known.`;
  const part = share === null ? "" : `, ${(share * 100).toFixed(1)} % of the bill`;
  return `${what}: ${moneyText(price)}${part}.`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
