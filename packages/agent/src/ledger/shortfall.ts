/** How much a request could have read, and why it read less. Pure. */
import type { Shortfall } from "@varve/protocol";
import type { GuardVerdict, ProfileName } from "@varve/wire";
import type { CacheFacts } from "../model/facts.ts";
import type { Chain } from "./chain.ts";
import type { InputFigures } from "./price.ts";
import { totalInput } from "./price.ts";

/**
 * The whole input of the answered step before, whichever model answered it: all of that stands at the front of this request
 * again, unless something was changed. 0 for the first request, and where the one before was too short to be cached at all.
 * Null when the provider did not tell.
 */
export function attainableOf(before: InputFigures | null, cache: Pick<CacheFacts, "minTokens"> | null): number | null {
  if (before === null) return 0;
  const total = totalInput(before);
  return total !== null && cache !== null && total < cache.minTokens ? 0 : total;
}

/**
 * Tokens that may be missing without being a shortfall. Anthropic bills to the token, and a marked block ends a few tokens before
 * its request does. The others count in blocks (128 tokens) and end their entries at whole messages: one per cent on top.
 */
export function roundingOf(profile: ProfileName, attainable: number): number {
  return profile === "anthropic" ? 64 : Math.max(128, Math.ceil(attainable / 100));
}

export interface ShortfallInput {
  readonly chain: Chain;
  readonly now: {
    readonly model: string;
    readonly read: number | null;
    readonly attainable: number | null;
    /** Milliseconds: when the request began. */
    readonly startedAt: number;
    readonly scopeHash: string | null;
  };
  readonly profile: ProfileName;
  readonly cache: CacheFacts | null;
  readonly guard: GuardVerdict;
}

/**
 * Null when all that could be read was read, or when too little was told. The first of these that is there is the cause: a
 * changed prefix, a compaction (or its undoing), another model, other options, a request that does not extend the one before,
 * silence longer than the entries live; else the provider.
 */
export function shortfallOf(input: ShortfallInput): Shortfall | null {
  const { attainable, read } = input.now;
  if (attainable === null || read === null || input.chain.before === null) return null;
  const tokens = attainable - read;
  return tokens <= roundingOf(input.profile, attainable) ? null : { tokens, ...causeOf(input) };
}

type Cause = Omit<Shortfall, "tokens">;

function causeOf(input: ShortfallInput): Cause {
  return restart(input) ?? switched(input) ?? brokenGuard(input) ?? expired(input) ?? { kind: "provider" };
}

function restart({ chain }: ShortfallInput): Cause | null {
  for (const kind of ["prefix", "compaction"] as const) {
    const row = chain.turnings.find((turning) => turning.kind === kind);
    if (row !== undefined) return { kind, seq: row.seq };
  }
  return null;
}

function switched({ chain, now }: ShortfallInput): Cause | null {
  const { before } = chain;
  if (before === null) return null;
  const row = chain.turnings.find((turning) => turning.kind === "model-changed");
  const where = row === undefined ? {} : { seq: row.seq };
  if (before.usage.model !== now.model) return { kind: "model", ...where };
  const bothKnown = before.scopeHash !== null && now.scopeHash !== null;
  return bothKnown && before.scopeHash !== now.scopeHash ? { kind: "options", ...where } : null;
}

/** A voided step that was sent before counts here too: its row is what the two requests differ by. */
function brokenGuard({ guard }: ShortfallInput): Cause | null {
  if (guard.kind === "changed") return { kind: "guard", ...(guard.seq === null ? {} : { seq: guard.seq }) };
  return guard.kind === "restarted" && guard.by === "step-void" ? { kind: "guard", seq: guard.seq } : null;
}

function expired({ chain, now, cache }: ShortfallInput): Cause | null {
  if (chain.touchedAt === null || chain.before === null || cache === null) return null;
  const idleMs = now.startedAt - chain.touchedAt;
  return idleMs > lifetimeOf(cache, chain.before.ttl) ? { kind: "expired", idleMs } : null;
}

const lifetimeOf = ({ shortMs, longMs }: CacheFacts, ttl: string | null): number =>
  ttl === "1h" ? (longMs ?? shortMs) : shortMs;
