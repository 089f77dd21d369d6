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
  const last = messages.findIndex((message) => message.role !== "system") - 1;
  return messages.map((message, index) => {
    return index === last ? { ...message, providerOptions: { ...message.providerOptions, ...mark } } : message;
  });
}

/** A copy of `messages` with at most four breakpoints. `messages` is not changed. */
export function placeBreakpoints(messages: readonly ModelMessage[], options: BreakpointOptions): ModelMessage[] {
  const lastSystem = messages.findIndex((message) => message.role !== "system") - 1;
  const tails = new Set([...earlierTails(options), messages.length - 1]);
  const systemTtl = options.ttl === "1h" ? "1h" : options.systemTtl;
  return messages.map((message, index) => {
    if (index === lastSystem) return marked(message, systemTtl);
    return tails.has(index) && index > lastSystem ? marked(message, options.ttl) : message;
  });
}

/** The newest answered end, and one more: a newer unanswered one, else the answered one before. */
function earlierTails({ anchors, scopeHash }: BreakpointOptions): readonly number[] {
  const readable = anchors.filter((anchor) => anchor.scopeHash === null || anchor.scopeHash === scopeHash);
  const answered = readable.findLast((anchor) => anchor.answered)?.messageIndex;
  if (answered === undefined) return readable.slice(-1).map((anchor) => anchor.messageIndex);
  const newer = readable.findLast((anchor) => anchor.messageIndex > answered);
  const older = readable.findLast((anchor) => anchor.answered && anchor.messageIndex < answered);
  const second = newer ?? older;
  return second === undefined ? [answered] : [answered, second.messageIndex];
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
