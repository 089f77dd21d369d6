/** The frozen head of a log: made once, sealed in the log's first transaction, and from then on only read. */
import {
  assert,
  type InstructionFile,
  type Json,
  type JsonObject,
  type PrefixData,
  type ToolDefinition,
} from "@varve/protocol";
import type { CacheTtl } from "./breakpoints.ts";
import { canonicalJson, sha256 } from "./digest.ts";
import { foldVersion } from "./fold.ts";
import { defaultConstants } from "./profile-constants.ts";
import { wellFormedObject, wellFormedText } from "./well-formed.ts";
import { isToolNameOnWire } from "./wire-ids.ts";

export interface PrefixSource {
  /** Blocks in order; at least one with a visible character. */
  readonly system: readonly string[];
  /** In any order: they are frozen by ascending name. */
  readonly tools: readonly ToolDefinition[];
  readonly instructions?: readonly InstructionFile[];
  /** Lifetime of cache entries; an hour pays for tabs that wait for people. */
  readonly cacheTtl?: CacheTtl;
  /** What all tabs of one workspace have in common, so that they share a provider's cache. Only its hash leaves. */
  readonly workspace?: string;
  /** Replaces the constants of single profiles. */
  readonly constants?: Readonly<Record<string, JsonObject>>;
}

/** The same source gives the same bytes, whatever the order of its tools, the locale or the time. */
export function makePrefixData(source: PrefixSource): PrefixData {
  const system = source.system.map(wellFormedText).filter((block) => /\S/.test(block));
  assert(system.length > 0, "a prefix needs at least one system block with text");
  const tools = source.tools.map(frozenTool).sort(byName);
  tools.forEach(({ name }, index) => {
    assert(isToolNameOnWire(name), `the tool name ${JSON.stringify(name)} is not legal on the wire`);
    assert(tools[index - 1]?.name !== name, `two tools are named ${name}`);
  });
  const constants = { ...defaultConstants(source.cacheTtl ?? "5m", cacheKeyOf(source.workspace)), ...source.constants };
  const instructions = [...(source.instructions ?? [])];
  const hash = prefixHash({ system, tools, constants });
  return { kind: "prefix", foldVersion, system, tools, constants, instructions, hash };
}

/** SHA-256 over the canonical JSON of what decides a request's beginning. */
export function prefixHash({ system, tools, constants }: Pick<PrefixData, "system" | "tools" | "constants">): string {
  const definitions = tools.map(({ name, description, inputSchema }): Json => ({ name, description, inputSchema }));
  return sha256(canonicalJson({ system, tools: definitions, constants }));
}

/** Whether a stored prefix still is what was sealed. */
export const isIntactPrefix = (data: PrefixData): boolean => prefixHash(data) === data.hash;

function frozenTool({ name, description, inputSchema }: ToolDefinition): ToolDefinition {
  return { name, description: wellFormedText(description), inputSchema: wellFormedObject(inputSchema) };
}

/** By UTF-16 units, not by locale. */
function byName(a: ToolDefinition, b: ToolDefinition): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

/** At most 64 characters, as OpenAI asks. */
const cacheKeyOf = (workspace: string | undefined): string | null =>
  workspace === undefined ? null : `varve-${sha256(workspace).slice(0, 24)}`;
