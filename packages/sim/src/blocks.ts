import { isObject, type JsonObject, objectsIn } from "./json.ts";

/** One block of a request body as `[role, exact JSON of the block without its cache breakpoint]`. */
export type WireBlock = readonly [role: string, json: string];

/**
 * The messages of an Anthropic body as one list of blocks. Neighbouring messages of one role are one message to the
 * vendor, so message boundaries are not part of the list; a string content is one text block.
 */
export function anthropicBlocks(body: unknown): readonly WireBlock[] {
  const messages = isObject(body) ? objectsIn(body.messages) : [];
  return messages.flatMap((message) =>
    contentBlocks(message.content).map((block): WireBlock => [String(message.role), JSON.stringify(unmarked(block))]),
  );
}

/** All blocks that stand before the model's answer: tools, then system, then messages, as the vendor renders them. */
export function anthropicPrefix(body: unknown): readonly WireBlock[] {
  if (!isObject(body)) return [];
  const tools = objectsIn(body.tools).map((tool): WireBlock => ["tools", JSON.stringify(unmarked(tool))]);
  const system = contentBlocks(body.system).map((block): WireBlock => ["system", JSON.stringify(unmarked(block))]);
  return [...tools, ...system, ...anthropicBlocks(body)];
}

/** The messages of an OpenAI Chat Completions body, one entry a message. */
export function openaiMessages(body: unknown): readonly WireBlock[] {
  const messages = isObject(body) ? objectsIn(body.messages) : [];
  return messages.map((message): WireBlock => {
    const content = Array.isArray(message.content) ? message.content.map(unmarked) : message.content;
    return [String(message.role), JSON.stringify(unmarked({ ...message, content }))];
  });
}

/** True iff `longer` begins with all of `shorter`, block for block and byte for byte. */
export function isBlockPrefix(shorter: readonly WireBlock[], longer: readonly WireBlock[]): boolean {
  return firstDivergence(shorter, longer) === null;
}

/** The first index at which `longer` does not repeat `shorter`, or null if it is an extension. For failure messages. */
export function firstDivergence(shorter: readonly WireBlock[], longer: readonly WireBlock[]): number | null {
  const index = shorter.findIndex(([role, json], at) => longer[at]?.[0] !== role || longer[at]?.[1] !== json);
  return index === -1 ? null : index;
}

export function contentBlocks(content: unknown): readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content);
}

/** The same value without `cache_control`, also inside a tool result's own content. */
export function unmarked(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { cache_control: _breakpoint, ...rest } = value;
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(unmarked) } : rest;
}
