import { unmarked } from "../blocks.ts";
import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import { prefixBlocks, ttlOf } from "../provider/anthropic-breakpoints.ts";
import type { Vendor } from "../provider/vendor.ts";
import type { BlockKind, CacheBlock } from "./cache-model.ts";

/** Settings that are part of the key beside the blocks. */
export function cacheScope(vendor: Vendor, body: JsonObject): string {
  const { model, thinking, tool_choice, output_config, reasoning_effort, reasoning, text, parallel_tool_calls } = body;
  const common = [vendor, model, thinking, tool_choice, output_config, reasoning_effort, reasoning];
  return JSON.stringify([...common, text, parallel_tool_calls, body.generationConfig, body.toolConfig]);
}

/** The input of a request as the vendor's cache sees it, in the order in which it is rendered. */
export function cacheBlocks(vendor: Vendor, body: JsonObject): readonly CacheBlock[] {
  switch (vendor) {
    case "anthropic":
      return anthropicCacheBlocks(body);
    case "openrouter":
      return openrouterCacheBlocks(body);
    case "openai-responses":
      return [toolsBlock(body.tools), ...objectsIn(body.input).map(responsesBlock)];
    case "google":
      return geminiCacheBlocks(body);
    case "openai":
    case "deepseek":
      return [toolsBlock(body.tools), ...chatCacheBlocks(body)];
  }
}

function toolsBlock(tools: unknown): CacheBlock {
  return { text: JSON.stringify(tools ?? []), ttl: null, kind: "tools" };
}

/** A list's elements are blocks of their own to this vendor; a top-level mark stands on the last of all. */
function anthropicCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const blocks = prefixBlocks(body).map(({ place, block, ttl }): CacheBlock => {
    const text = `${place}:${JSON.stringify(unmarked(block))}`;
    return { text, ttl, kind: anthropicKind(place, block.type) };
  });
  return withAutomatic(blocks, body);
}

function anthropicKind(place: string, type: unknown): BlockKind {
  if (place === "tools") return "tools";
  if (type === "tool_use") return "tool-use";
  if (type === "tool_result") return "tool-result";
  return place === "system" ? "system" : place === "user" ? "user" : "other";
}

function withAutomatic(blocks: readonly CacheBlock[], body: JsonObject): readonly CacheBlock[] {
  const automatic = ttlOf(body);
  const last = blocks.at(-1);
  if (automatic === null || last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, ttl: last.ttl ?? automatic }];
}

/** The same request as it reaches the vendor behind OpenRouter: blocks, with the marks that were on parts and messages. */
function openrouterCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const tools = objectsIn(body.tools).map(
    (tool): CacheBlock => ({ text: JSON.stringify(tool), ttl: null, kind: "tools" }),
  );
  const messages = objectsIn(body.messages).flatMap((message): readonly CacheBlock[] => {
    if (message.role === "assistant") return assistantBlocks(message);
    if (message.role === "tool") {
      return [{ text: JSON.stringify(unmarkedDeep(message)), ttl: markIn(message), kind: "tool-result" }];
    }
    const kind = message.role === "system" ? "system" : "user";
    const parts =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : objectsIn(message.content);
    return parts.map((part) => ({ text: `${kind}:${JSON.stringify(unmarked(part))}`, ttl: ttlOf(part), kind }));
  });
  return withAutomatic([...tools, ...messages], body);
}

function assistantBlocks(message: JsonObject): readonly CacheBlock[] {
  const block = (value: unknown, kind: BlockKind = "other"): CacheBlock => ({
    text: JSON.stringify(value),
    ttl: null,
    kind,
  });
  const text = stringOr(message.content, "");
  return [
    ...objectsIn(message.reasoning_details).map((detail) => block(detail)),
    ...(text === "" ? [] : [block(text)]),
    ...objectsIn(message.tool_calls).map((call) => block(call, "tool-use")),
  ];
}

function markIn(message: JsonObject): CacheBlock["ttl"] {
  const inParts = objectsIn(message.content).map(ttlOf);
  return ttlOf(message) ?? inParts.find((ttl) => ttl !== null) ?? null;
}

function unmarkedDeep(message: JsonObject): unknown {
  const content = Array.isArray(message.content) ? message.content.map(unmarked) : message.content;
  return unmarked({ ...message, content });
}

function responsesBlock(item: JsonObject): CacheBlock {
  const marks = objectsIn(item.content).some((part) => part.prompt_cache_breakpoint !== undefined);
  const kind =
    item.type === "function_call_output"
      ? "tool-result"
      : item.type === "function_call"
        ? "tool-use"
        : roleKind(item.role);
  return { text: JSON.stringify(item), ttl: marks ? "5m" : null, kind };
}

function roleKind(role: unknown): BlockKind {
  if (role === "system" || role === "developer") return "system";
  return role === "user" ? "user" : role === "tool" ? "tool-result" : "other";
}

/** The assistant's own words come as they were generated, so that an answer and its replay are the same text. */
function chatCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const messages = objectsIn(body.messages);
  const dropped = dropsThinking(body) ? messages.findLastIndex(({ role }) => role === "user") : 0;
  return messages.map((message, index): CacheBlock => {
    const marks = objectsIn(message.content).some((part) => part.prompt_cache_breakpoint !== undefined);
    const kind = roleKind(message.role);
    if (message.role !== "assistant") return { text: JSON.stringify(message), ttl: marks ? "5m" : null, kind };
    const calls = objectsIn(message.tool_calls).map((call) => (isObject(call.function) ? call.function : {}));
    const told = calls.map((call) => ({ name: stringOr(call.name, ""), args: stringOr(call.arguments, "") }));
    const replayed = stringOr(message.reasoning_content, stringOr(message.reasoning, ""));
    const thought = index < dropped ? null : replayed;
    return { text: renderedAnswer({ thought, text: stringOr(message.content, ""), calls: told }), ttl: null, kind };
  });
}

/** Templates of the Qwen family leave thinking out in front of the newest message of a person, unless they are told to keep it. */
function dropsThinking({ model, chat_template_kwargs: told }: JsonObject): boolean {
  return /(^|\/)qw(en|q)/i.test(stringOr(model, "")) && !(isObject(told) && told.preserve_thinking === true);
}

export interface Answer {
  /** Null: the template leaves it out, with what frames it. */
  readonly thought: string | null;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: string }[];
}

/** An answer as a chat template writes it: thinking, text, calls. */
export function renderedAnswer({ thought, text, calls }: Answer): string {
  const called = calls.map(({ name, args }) => `<call>${name} ${args}</call>`).join("");
  const thinking = thought === null ? "" : `<think>${thought}</think>`;
  return `<assistant>${thinking}${text}${called}</assistant>`;
}

function geminiCacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const system: CacheBlock = { text: JSON.stringify(body.systemInstruction ?? null), ttl: null, kind: "system" };
  const turns = objectsIn(body.contents).flatMap((turn): readonly CacheBlock[] =>
    objectsIn(turn.parts).map((part) => ({
      text: `${stringOr(turn.role, "")}:${JSON.stringify(part)}`,
      ttl: null,
      kind: part.functionCall !== undefined ? "tool-use" : turn.role === "user" ? "user" : "other",
    })),
  );
  return [toolsBlock(body.tools), system, ...turns];
}
