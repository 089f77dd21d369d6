/** From a choice that a person may make to the way in which requests would be made. */
import type { ResolvedModel } from "@varve/agent";
import type { CacheTtl, Effort, PrefixData } from "@varve/protocol";
import { requestOptions, scopeHashOf, targetUnder } from "@varve/wire";
import type { Way } from "./forecast.ts";

export interface Choice {
  readonly effort: Effort;
  readonly ttl: CacheTtl;
}

/** `frozen` decides in which form an older log goes on; see `targetUnder`. */
export function wayOf({ info, target, facts }: ResolvedModel, { effort, ttl }: Choice, frozen: PrefixData | null): Way {
  return {
    model: info.id,
    target: targetUnder(frozen, target),
    facts,
    ttl,
    scopeHash: (prefix: PrefixData) => {
      const spoken = targetUnder(prefix, target);
      return scopeHashOf(requestOptions(prefix, spoken, effort), spoken);
    },
  };
}
