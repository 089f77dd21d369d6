import type { BegunRequest, CacheModel } from "../cache/cache-model.ts";
import { cacheBlocks, cacheScope } from "../cache/request-blocks.ts";
import { type CacheRules, createVendorCache } from "../cache/vendor-cache.ts";
import type { JsonObject } from "../json.ts";
import type { InputFigures } from "./reply-stream.ts";
import type { ReplyUsage } from "./script.ts";
import type { Vendor } from "./vendor.ts";

export interface Counted {
  /** What the answer tells; the words of the script win. */
  readonly input: InputFigures;
  /** What the cache says, whatever the script tells. */
  readonly begun: BegunRequest;
}

export interface Accounting {
  /** Looks up a request that begins at `nowMs`. Nothing of it can be read before its first event. */
  begin(request: {
    readonly vendor: Vendor;
    readonly model: string;
    readonly body: JsonObject;
    readonly usage: ReplyUsage | undefined;
    readonly nowMs: number;
  }): Counted;
}

/** One cache for each vendor and model, so that usage figures are those a real account would show for the same requests. */
export function createAccounting(rules: CacheRules = {}): Accounting {
  const caches = new Map<string, CacheModel>();
  return {
    begin({ vendor, model, body, usage, nowMs }) {
      const key = `${vendor}/${model}`;
      const cache = caches.get(key) ?? createVendorCache(vendor, model, rules);
      caches.set(key, cache);
      const begun = cache.begin({ scope: cacheScope(vendor, body), blocks: cacheBlocks(vendor, body), nowMs });
      return { begun, input: told(begun.figures, usage) };
    },
  };
}

function told(figures: InputFigures, usage: ReplyUsage | undefined): InputFigures {
  return {
    fresh: usage?.input ?? figures.fresh,
    read: usage?.cacheRead ?? figures.read,
    write5m: usage?.cacheWrite ?? figures.write5m,
    write1h: usage?.cacheWrite === undefined ? figures.write1h : 0,
  };
}
