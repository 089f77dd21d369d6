import { openaiMessages, unmarked } from "../blocks.ts";
import type { JsonObject } from "../json.ts";
import { prefixBlocks, ttlOf } from "./anthropic-breakpoints.ts";
import { type CacheBlock, type CacheModel, createCacheModel } from "./cache-model.ts";
import type { InputFigures } from "./reply-stream.ts";
import type { Vendor } from "./request-view.ts";
import type { ReplyUsage } from "./script.ts";

export interface Accounting {
  /** The input figures of a request that begins at `nowMs`; what the script says wins. */
  inputOf(request: {
    readonly vendor: Vendor;
    readonly body: JsonObject;
    readonly usage: ReplyUsage | undefined;
    readonly nowMs: number;
  }): InputFigures;
}

/** One cache for each vendor, so that usage figures are those a real account would show for the same requests. */
export function createAccounting(): Accounting {
  const caches: Readonly<Record<Vendor, CacheModel>> = { anthropic: createCacheModel(), openai: createCacheModel() };
  return {
    inputOf({ vendor, body, usage, nowMs }) {
      const blocks = vendor === "anthropic" ? anthropicCacheBlocks(body) : openaiCacheBlocks(body);
      const figures = caches[vendor].account({ scope: scopeOf(body), blocks, nowMs });
      // This vendor reports no writes: what was not read counts as plain input.
      const told = vendor === "anthropic" ? figures : { ...figures, fresh: unread(figures), write5m: 0, write1h: 0 };
      return {
        fresh: usage?.input ?? told.fresh,
        read: usage?.cacheRead ?? told.read,
        write5m: usage?.cacheWrite ?? told.write5m,
        write1h: usage?.cacheWrite === undefined ? told.write1h : 0,
      };
    },
  };
}

function unread(figures: InputFigures): number {
  return figures.fresh + figures.write5m + figures.write1h;
}

/** Settings that are part of the cache key beside the blocks. */
function scopeOf(body: JsonObject): string {
  const { model, thinking, tool_choice, output_config, reasoning_effort } = body;
  return JSON.stringify([model, thinking, tool_choice, output_config, reasoning_effort]);
}

function anthropicCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const blocks = prefixBlocks(body).map(({ place, block, ttl }) => ({
    text: `${place}:${JSON.stringify(unmarked(block))}`,
    ttl,
  }));
  const automatic = ttlOf(body);
  const last = blocks.at(-1);
  if (automatic === null || last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, ttl: last.ttl ?? automatic }];
}

/** Every message end is looked up and kept, as with a vendor that caches by itself. */
function openaiCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const tools: CacheBlock = { text: JSON.stringify(body.tools ?? []), ttl: "1h" };
  return [tools, ...openaiMessages(body).map(([role, json]): CacheBlock => ({ text: `${role}:${json}`, ttl: "1h" }))];
}
