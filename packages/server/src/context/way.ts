/** From a choice that a person may make to the way in which requests would be made. */
import type { ResolvedModel } from "@varve/agent";
import type { CacheTtl, Effort, PrefixData } from "@varve/protocol";
import { requestOptions, scopeHashOf, targetUnder } from "@varve/wire";
import type { Way } from "./forecast.ts";

export interface Choice {
  readonly effort: Effort;
  readonly ttl: CacheTtl;
}

export function wayOf({ info, target, facts }: ResolvedModel, { effort, ttl }: Choice): Way {
  return {
    model: info.id,
    target,
    facts,
    ttl,
    scopeHash: (prefix: PrefixData) => {
      const spoken = targetUnder(prefix, target);
      return scopeHashOf(requestOptions(prefix, spoken, effort), spoken);
    },
  };
}
