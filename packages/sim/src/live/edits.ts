/** Changes to a body that each ask a vendor one question. Pure. */
import { isObject, type JsonObject, objectsIn } from "../json.ts";

/** Values of this key anywhere in a body. */
export function countOf(value: unknown, key: string): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + countOf(one, key), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((sum, [name, inner]) => sum + (name === key ? 1 : 0) + countOf(inner, key), 0);
}

/** Breakpoints, changed one by one; null takes one away. */
function mapMarks(value: unknown, change: (mark: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapMarks(one, change));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === "cache_control" ? change(inner) : mapMarks(inner, change),
  ]);
  return Object.fromEntries(entries.filter(([key, inner]) => key !== "cache_control" || inner !== null));
}

const asBody = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The breakpoint at the end of the request alone, so that only a look-back can find what an earlier request wrote. */
export function onlyLastMark(body: JsonObject): JsonObject {
  const bare = asBody(mapMarks(body, () => null));
  const messages = objectsIn(bare.messages);
  const last = messages.at(-1);
  const blocks = objectsIn(last?.content);
  const end = { ...blocks.at(-1), cache_control: { type: "ephemeral" } };
  return { ...bare, messages: [...messages.slice(0, -1), { ...last, content: [...blocks.slice(0, -1), end] }] };
}

/** All breakpoints for an hour. */
export const withHourMarks = (body: JsonObject): JsonObject =>
  asBody(mapMarks(body, () => ({ type: "ephemeral", ttl: "1h" })));

/** The tools as a request that is not streamed would send them. */
export function withoutEagerFlag(body: JsonObject): JsonObject {
  const tools = objectsIn(body.tools).map(({ eager_input_streaming: _, ...tool }) => tool);
  return { ...body, tools };
}

/** A setting that the vendor must refuse, so that nothing is generated. */
export const refusedOnPurpose = (body: JsonObject): JsonObject => ({ ...body, max_tokens: -1 });

export const withCacheKey =
  (key: string) =>
  (body: JsonObject): JsonObject => ({ ...body, prompt_cache_key: key });

/** The first user message in its other form: a text for a list of one text, and the other way round. */
export function otherForm(body: JsonObject): JsonObject {
  const list = body.input === undefined ? "messages" : "input";
  const partType = list === "input" ? "input_text" : "text";
  const items = objectsIn(body[list]);
  const at = items.findIndex((item) => item.role === "user");
  const turned = items.map((item, index) => (index === at ? { ...item, content: turn(item.content, partType) } : item));
  return { ...body, [list]: turned };
}

function turn(content: unknown, partType: string): unknown {
  if (typeof content === "string") return [{ type: partType, text: content }];
  const [only, ...more] = objectsIn(content);
  return more.length === 0 && typeof only?.text === "string" ? only.text : content;
}

const isThinking = (block: JsonObject): boolean => block.type === "thinking" || block.type === "redacted_thinking";

/** A text of one blank in the newest assistant message: behind its last thinking block, or in front where it has none. */
export function withBlankText(body: JsonObject): JsonObject {
  const messages = objectsIn(body.messages);
  const at = messages.findLastIndex((message) => message.role === "assistant");
  const blank = { type: "text", text: " " };
  const changed = messages.map((message, index) => {
    if (index !== at) return message;
    const blocks = objectsIn(message.content);
    const behind = blocks.findLastIndex(isThinking) + 1;
    return { ...message, content: [...blocks.slice(0, behind), blank, ...blocks.slice(behind)] };
  });
  return { ...body, messages: changed };
}
