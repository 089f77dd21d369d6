/** Why a request read less than it could have, in words. */
import type { Shortfall } from "@varve/protocol";
import { durationText } from "../tools/summary.ts";

export type CauseKind = Shortfall["kind"];

export const causeName: Readonly<Record<CauseKind, string>> = {
  expired: "cache expired",
  model: "model changed",
  options: "options changed",
  prefix: "new context applied",
  compaction: "turns summed up",
  guard: "earlier text differs",
  provider: "provider",
};

const SENTENCES: Readonly<Record<CauseKind, string>> = {
  expired: "The cache had expired",
  model: "Another model has its own cache",
  options: "The effort or another option was changed",
  prefix: "New instructions or tools were applied",
  compaction: "Earlier turns were summed up, or that was undone",
  guard: "An earlier part of the request differs from what was sent before",
  provider: "The provider had it and did not read it; nothing on this side explains that",
};

/** One sentence without its full stop: the cause, and what is known of it. */
export function causeText(cause: Shortfall): string {
  const told = SENTENCES[cause.kind];
  if (cause.kind === "expired" && cause.idleMs !== undefined) return `${told} after ${durationText(cause.idleMs)} idle`;
  if (cause.seq === undefined) return told;
  return cause.kind === "guard" ? `${told}, first at row ${cause.seq}` : `${told} (row ${cause.seq})`;
}
