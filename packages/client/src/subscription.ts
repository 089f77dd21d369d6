/**
 * Whether and how a tab is subscribed. At most one `sub` is under way at a time; what would need another meanwhile is
 * covered by its head, or asked for after it. Heads that help nothing slow the asking down, so that a faulty server
 * cannot keep a client busy.
 */
import { type Command, limits, type TabId } from "@varve/protocol";
import { type Resub, type TabView, windowHi } from "./tab-view.ts";

/** Subscriptions asked for right after one another; each further one waits `resubDelayMs`. */
export const resubsAtOnceMax = 3;
export const resubDelayMs = 1000;

export type SubCommand = Extract<Command, { readonly type: "sub" }>;

/** `whole`: give the text of open blocks from the first character on. */
export function subCommand(
  view: TabView,
  options: { readonly re: number; readonly focus: boolean; readonly whole: boolean },
): SubCommand {
  const open: Record<string, number> = {};
  if (!options.whole) for (const cell of view.state.open.values()) open[cell.id] = cell.text.length;
  return {
    type: "sub",
    re: options.re,
    tab: view.tabId,
    have: haveOf(view),
    ...(Object.keys(open).length === 0 ? {} : { open }),
    want: view.attached ? limits.pageRowsDefault : 0,
    focus: options.focus,
  };
}

/** The newest contiguous row that is held. With none the whole log is unknown, and its last page is wanted. */
function haveOf(view: TabView): SubCommand["have"] {
  const last = view.rows.at(-1);
  const log = view.state.logId;
  if (log === null || !view.ready) return null;
  if (last !== undefined) return { log, term: last.term, seq: windowHi(view) };
  return view.state.tail === 0 ? { log, term: view.state.version[0], seq: 0 } : null;
}

export type SubState =
  | { readonly kind: "off" }
  | { readonly kind: "pending"; readonly re: number; readonly tab: TabId }
  | { readonly kind: "live" }
  /** The server refused; a new connection tries again, and where the reason passes by itself, `Patience`. */
  | { readonly kind: "refused" };

/** Counts heads in a row that left something missing. */
export const subDelayMs = (resubsInARow: number): number => (resubsInARow < resubsAtOnceMax ? 0 : resubDelayMs);

export const stronger = (a: Resub, b: Resub): Resub =>
  a === "whole" || b === "whole" ? "whole" : a === "needed" ? a : b;
