import { contentBlocks } from "../blocks.ts";
import type { Ttl } from "../cache/cache-model.ts";
import { isObject, type JsonObject, objectsIn } from "../json.ts";

export const BREAKPOINTS_MAX = 4;

/** One block of the rendered prefix (tools, then system, then messages) with its breakpoint, if it has one. */
export interface PrefixBlock {
  readonly place: string;
  readonly block: JsonObject;
  readonly ttl: Ttl | null;
}

export function prefixBlocks(body: JsonObject): readonly PrefixBlock[] {
  const placed: { place: string; block: JsonObject }[] = [];
  for (const tool of objectsIn(body.tools)) placed.push({ place: "tools", block: tool });
  for (const block of contentBlocks(body.system)) placed.push({ place: "system", block });
  for (const message of objectsIn(body.messages)) {
    for (const block of contentBlocks(message.content)) placed.push({ place: String(message.role), block });
  }
  return placed.map(({ place, block }) => ({ place, block, ttl: ttlOf(block) }));
}

/** The lifetime that a value's `cache_control` asks for, or null. */
export function ttlOf(block: JsonObject): Ttl | null {
  if (!isObject(block.cache_control)) return null;
  return block.cache_control.ttl === "1h" ? "1h" : "5m";
}

/** Why the cache breakpoints of a body are refused, or null. A top-level one counts, and stands behind all others. */
export function breakpointProblem(body: JsonObject): string | null {
  const marked: { block: JsonObject; ttl: Ttl }[] = [];
  for (const { block, ttl } of [...prefixBlocks(body), { block: body, ttl: ttlOf(body) }]) {
    if (ttl !== null) marked.push({ block, ttl });
  }
  const wrong = marked.find(({ block }) => !isValidControl(block.cache_control));
  if (wrong !== undefined) return "cache_control: Input should be {type: 'ephemeral', ttl?: '5m' | '1h'}";
  if (marked.length > BREAKPOINTS_MAX) {
    return `A maximum of ${BREAKPOINTS_MAX} blocks with cache_control may be provided. Found ${marked.length}.`;
  }
  const firstShort = marked.findIndex(({ ttl }) => ttl === "5m");
  const longBehind = firstShort !== -1 && marked.slice(firstShort).some(({ ttl }) => ttl === "1h");
  return longBehind ? "cache_control: a ttl='1h' block must not come after a ttl='5m' block" : null;
}

function isValidControl(control: unknown): boolean {
  if (!isObject(control) || control.type !== "ephemeral") return false;
  return control.ttl === undefined || control.ttl === "5m" || control.ttl === "1h";
}
