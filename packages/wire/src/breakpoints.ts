/**
 * Cache breakpoints, applied last and on a copy: they are no part of what a request says.
 *
 * A cache entry exists only where a breakpoint once stood, and the entry of the previous request ends exactly at that
 * request's last block. So that block is marked again (T1) and read by an exact match, whatever lies behind it: no
 * look-back, however many calls a step made. Beside it: S, the end of the system prompt (shared by all tabs with the
 * same prefix); T0, this request's end; and T2, one more earlier end, for the two ways in which T1's entry may be
 * missing: the previous request was never answered, or another tab or model kept an older one alive.
 */
import type { List } from "./list.ts";
import { type ModelMessage, type ProviderOptions, providerOptionsOf } from "./model-message.ts";
import type { Profile } from "./profile.ts";
import type { Anchor } from "./render.ts";

/** Anthropic drops every breakpoint beyond this, newest first. */
export const breakpointsMax = 4;

export type CacheTtl = "5m" | "1h";

export interface BreakpointOptions {
  /** Ascending by message index. */
  readonly anchors: List<Anchor>;
  /** Requests of another scope (model, effort, tools) left no entry that this one could read. */
  readonly scopeHash: string;
  /** Longer lifetimes must come first, so the system prompt's is never the shorter one. */
  readonly systemTtl: CacheTtl;
  readonly ttl: CacheTtl;
}

/** A copy of `messages` with the breakpoints of the profile's kind. `messages` is not changed. */
export const applyBreakpoints = (
  messages: readonly ModelMessage[],
  profile: Pick<Profile, "breakpoints" | "systemMark">,
  options: BreakpointOptions,
): ModelMessage[] => withMarks(messages, breakpointsOf(messages, profile, options));

/** A copy of `messages` with at most four breakpoints. `messages` is not changed. */
export const placeBreakpoints = (messages: readonly ModelMessage[], options: BreakpointOptions): ModelMessage[] =>
  withMarks(messages, tailMarks(messages, options));

function withMarks(messages: readonly ModelMessage[], marks: ReadonlyMap<number, ModelMessage>): ModelMessage[] {
  const copy = messages.slice();
  for (const [index, message] of marks) copy[index] = message;
  return copy;
}

/** The messages that carry a breakpoint, marked, by index. Looks at few messages, however many there are. */
export function breakpointsOf(
  messages: List<ModelMessage>,
  profile: Pick<Profile, "breakpoints" | "systemMark">,
  options: BreakpointOptions,
): ReadonlyMap<number, ModelMessage> {
  if (profile.breakpoints === "tails") return tailMarks(messages, options);
  if (profile.breakpoints === "system" && profile.systemMark !== null) {
    return systemMark(messages, providerOptionsOf(profile.systemMark));
  }
  return new Map();
}

/** One mark, at the end of the system prompt, in every request alike: a mark changes the form of what carries it. */
function systemMark(messages: List<ModelMessage>, mark: ProviderOptions): ReadonlyMap<number, ModelMessage> {
  const last = endOfSystem(messages);
  const message = last < 0 ? undefined : messages.at(last);
  if (message === undefined) return new Map();
  return new Map([[last, { ...message, providerOptions: { ...message.providerOptions, ...mark } }]]);
}

/** Index of the last system message in front of all others, -1 without one or where there is nothing else. */
function endOfSystem(messages: List<ModelMessage>): number {
  let end = 0;
  while (messages.at(end)?.role === "system") end += 1;
  return end < messages.length ? end - 1 : -1;
}

function tailMarks(messages: List<ModelMessage>, options: BreakpointOptions): ReadonlyMap<number, ModelMessage> {
  const marks = new Map<number, ModelMessage>();
  const mark = (index: number, ttl: CacheTtl): void => {
    const message = index < 0 ? undefined : messages.at(index);
    if (message !== undefined) marks.set(index, marked(message, ttl));
  };
  const lastSystem = endOfSystem(messages);
  mark(lastSystem, options.ttl === "1h" ? "1h" : options.systemTtl);
  for (const index of earlierTails(options)) if (index > lastSystem) mark(index, options.ttl);
  if (messages.length - 1 > lastSystem) mark(messages.length - 1, options.ttl);
  return marks;
}

/** The newest answered end, and one more: a newer unanswered one, else the answered one before. */
function earlierTails({ anchors, scopeHash }: BreakpointOptions): readonly number[] {
  let newer = -1;
  let answered = -1;
  for (let at = anchors.length - 1; at >= 0; at--) {
    const anchor = anchors.at(at);
    if (anchor === undefined || (anchor.scopeHash !== null && anchor.scopeHash !== scopeHash)) continue;
    const { messageIndex } = anchor;
    if (answered < 0 && !anchor.answered) newer = Math.max(newer, messageIndex);
    else if (answered < 0) answered = messageIndex;
    else if (anchor.answered && messageIndex < answered) return [answered, messageIndex];
    if (answered >= 0 && newer > answered) break;
  }
  return [answered, newer].filter((index) => index >= 0);
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
