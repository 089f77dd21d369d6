/** How results are worded and bounded. Every text that leaves a tool passes `finish`. */
import type { JsonObject } from "@varve/protocol";
import { toolLimits } from "./limits.ts";
import type { ToolOutcome } from "./tool.ts";

/** Stops a tool with a text for the model. Thrown inside tools only; `define-tool.ts` turns it into an outcome. */
export class ToolFault extends Error {
  override readonly name = "ToolFault";
}

export const succeed = (text: string, details: JsonObject, more: Partial<ToolOutcome> = {}): ToolOutcome => ({
  text,
  isError: false,
  details,
  ...more,
});

export const fail = (text: string, details?: JsonObject): ToolOutcome =>
  details === undefined ? { text, isError: true } : { text, isError: true, details };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Half surrogates become U+FFFD: what is sealed is always well-formed. */
export const wellFormed = (text: string): string => decoder.decode(encoder.encode(text));

export const isWellFormed = (text: string): boolean => wellFormed(text) === text;

/** Up to `max` UTF-16 units from the start, never half a pair. */
export function cutEnd(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** Up to `max` UTF-16 units from the end, never half a pair. */
export function cutStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const from = text.length - max;
  const first = text.charCodeAt(from);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? from + 1 : from);
}

/** Non-empty, bounded, well-formed: the contract of `ToolOutcome.text`. */
export function finish(outcome: ToolOutcome): ToolOutcome {
  const whole = wellFormed(outcome.text);
  const text = whole === "" ? "⟨no output⟩" : whole;
  if (text.length <= toolLimits.resultCharsMax) return { ...outcome, text };
  return { ...outcome, text: `${cutEnd(text, toolLimits.resultCharsMax)}\n⟨cut here⟩` };
}

/** "1 line", "2 lines". */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const systemWords: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist: a part of the path is not a directory",
  EISDIR: "is a directory",
  EACCES: "may not be accessed by this user",
  EPERM: "may not be accessed by this user",
  EROFS: "is on a read-only disk",
  ENOSPC: "could not be written: the disk is full",
  EDQUOT: "could not be written: the disk quota is used up",
  ELOOP: "is a link that leads in a circle",
  ENAMETOOLONG: "has a name that is too long",
  EMFILE: "could not be opened: too many open files",
  MOVED: "changed its place while it was opened; nothing was touched",
};

/** A fault of the world in words for the model. */
export const faultWords = (path: string, code: string): string =>
  `${path} ${systemWords[code] ?? `could not be used (${code})`}.`;

/** Why a call ended early, as the loop's signal says it. */
export const stoppedWords = (signal: AbortSignal): string =>
  signal.reason === "deadline" ? "⟨stopped: the turn's deadline came⟩" : "⟨stopped by the person⟩";
