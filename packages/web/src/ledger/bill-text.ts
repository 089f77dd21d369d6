import type { BillBody, Recording, Shortfall } from "@varve/protocol";
import { countText } from "../tab/usage.ts";
import { type CauseKind, causeName, causeText } from "./cause-text.ts";
import { moneyText } from "./money-text.ts";

export const formatName: Readonly<Record<Recording["format"], string>> = { pi: "pi", "claude-code": "Claude Code" };

/** A recording has no rows and says nothing of the prompt that its tool made: these causes mean less than in a log of ours. */
export const billCauseName: Readonly<Record<CauseKind, string>> = {
  ...causeName,
  prefix: "the tool’s system prompt or tools changed",
  provider: "not explained by the recording",
};

export function billCauseText(cause: Shortfall): string {
  if (cause.kind === "prefix") return "The tool’s system prompt or tools changed";
  return cause.kind === "provider" ? "Nothing in the recording explains it" : causeText(cause);
}

export const unreadableText = (lines: number): string =>
  lines === 1
    ? "1 line could not be read and is not counted."
    : `${lines} lines could not be read and are not counted.`;

/** How much of a bill was paid for what had been sent before. `unpriced`: requests of the bill without a known price. */
export function rewrittenText({ tokens, price, share }: BillBody["rewritten"], unpriced: number): string {
  if (tokens === 0) return "Nothing of it was paid twice.";
  const what = `${countText(tokens)} tokens were paid again although they had been sent before`;
  if (price === null) return `${what}; at a price that is not known.`;
  const part = share === null ? "" : `, ${(share * 100).toFixed(1)} % of the bill`;
  return `${what}: ${unpriced > 0 ? "at least " : ""}${moneyText(price)}${unpriced > 0 ? "" : part}.`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
