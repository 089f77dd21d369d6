/**
 * Cache breakpoints, applied last and on a copy: they are no part of what a request says.
 *
 * A cache entry exists only where a breakpoint once stood, and the entry of the previous request ends exactly at that
 * request's last block. So that block is marked again (T1) and read by an exact match, whatever lies behind it: no
 * look-back, however many calls a step made. Beside it: S, the end of the system prompt (shared by all tabs with the
 * same prefix); T0, this request's end; and T2, one more earlier end, for the two ways in which T1's entry may be
 * missing: the previous request was never answered, or another tab or model kept an older one alive.
 */
import { type ModelMessage, type ProviderOptions, providerOptionsOf } from "./model-message.ts";
import type { Profile } from "./profile.ts";
import type { Anchor } from "./render.ts";

/** Anthropic drops every breakpoint beyond this, newest first. */
export const breakpointsMax = 4;

export type CacheTtl = "5m" | "1h";

export interface BreakpointOptions {
  readonly anchors: readonly Anchor[];
  /** Requests of another scope (model, effort, tools) left no entry that this one could read. */
  readonly scopeHash: string;
  /** Longer lifetimes must come first, so the system prompt's is never the shorter one. */
  readonly systemTtl: CacheTtl;
  readonly ttl: CacheTtl;
}

/** A copy of `messages` with the breakpoints of the profile's kind. `messages` is not changed. */
export function applyBreakpoints(
  messages: readonly ModelMessage[],
  profile: Pick<Profile, "breakpoints" | "systemMark">,
  options: BreakpointOptions,
): ModelMessage[] {
  if (profile.breakpoints === "tails") return placeBreakpoints(messages, options);
  if (profile.breakpoints === "system" && profile.systemMark !== null) {
    return markSystem(messages, providerOptionsOf(profile.systemMark));
  }
  return [...messages];
}

/** One mark, at the end of the system prompt, in every request alike: a mark changes the form of what carries it. */
function markSystem(messages: readonly ModelMessage[], mark: ProviderOptions): ModelMessage[] {
  const copy = messages.slice();
  const last = messages.findIndex((message) => message.role !== "system") - 1;
  const message = messages[last];
  if (message !== undefined) copy[last] = { ...message, providerOptions: { ...message.providerOptions, ...mark } };
  return copy;
}

/** A copy of `messages` with at most four breakpoints. `messages` is not changed. Looks at the marked ones alone. */
export function placeBreakpoints(messages: readonly ModelMessage[], options: BreakpointOptions): ModelMessage[] {
  const copy = messages.slice();
  const mark = (index: number, ttl: CacheTtl): void => {
    const message = messages[index];
    if (message !== undefined) copy[index] = marked(message, ttl);
  };
  const lastSystem = messages.findIndex((message) => message.role !== "system") - 1;
  mark(lastSystem, options.ttl === "1h" ? "1h" : options.systemTtl);
  const tails = new Set([...earlierTails(options), messages.length - 1]);
  for (const index of tails) if (index > lastSystem) mark(index, options.ttl);
  return copy;
}

/** The newest answered end, and one more: a newer unanswered one, else the answered one before. */
function earlierTails({ anchors, scopeHash }: BreakpointOptions): readonly number[] {
  const isReadable = (anchor: Anchor) => anchor.scopeHash === null || anchor.scopeHash === scopeHash;
  const answered = anchors.findLast((anchor) => isReadable(anchor) && anchor.answered)?.messageIndex ?? -1;
  const newer = anchors.findLast((anchor) => isReadable(anchor) && anchor.messageIndex > answered);
  const older = anchors.findLast((anchor) => isReadable(anchor) && anchor.answered && anchor.messageIndex < answered);
  return [answered, (newer ?? older)?.messageIndex ?? -1].filter((index) => index >= 0);
}

/** On a message: the adapter puts it on the last block, which is never thinking on the user's side. */
function marked(message: ModelMessage, ttl: CacheTtl): ModelMessage {
  const cacheControl = ttl === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl };
  const anthropic = { ...message.providerOptions?.anthropic, cacheControl };
  return { ...message, providerOptions: { ...message.providerOptions, anthropic } };
}

export const isMarked = (message: ModelMessage): boolean => message.providerOptions?.anthropic?.cacheControl != null;

export function withoutBreakpoint(options: ProviderOptions | undefined): ProviderOptions | undefined {
  if (options?.anthropic?.cacheControl == null) return options;
  const { cacheControl: _, ...rest } = options.anthropic;
  return Object.keys(rest).length === 0 ? undefined : { ...options, anthropic: rest };
}
