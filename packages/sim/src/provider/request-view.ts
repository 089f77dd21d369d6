import { isObject, type JsonObject, objectsIn, parseJson, stringOr } from "../json.ts";

export type Vendor = "anthropic" | "openai";

export interface FakeToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface FakeToolResult {
  readonly callId: string;
  /** Name of the tool as called; "" if the call is not in the request. */
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface FakeMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly calls: readonly FakeToolCall[];
  readonly results: readonly FakeToolResult[];
}

/** One request in the same words for every vendor: what a scripted model decides by. */
export interface FakeRequest {
  readonly vendor: Vendor;
  /** Place among all recorded calls, from 0. */
  readonly index: number;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly toolNames: readonly string[];
  readonly messages: readonly FakeMessage[];
  /** Text of the newest user message that has any. */
  readonly lastUserText: string;
  /** The tool results that stand behind the last assistant message, in their order. */
  readonly lastResults: readonly FakeToolResult[];
  readonly body: JsonObject;
}

export function viewRequest(vendor: Vendor, index: number, body: JsonObject): FakeRequest {
  const messages = vendor === "anthropic" ? anthropicMessages(body) : openaiMessagesView(body);
  const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
  return {
    vendor,
    index,
    model: stringOr(body.model, ""),
    stream: body.stream === true,
    system: vendor === "anthropic" ? textOf(body.system) : systemOf(messages),
    toolNames: objectsIn(body.tools).map((tool) =>
      stringOr(isObject(tool.function) ? tool.function.name : tool.name, ""),
    ),
    messages,
    lastUserText: messages.findLast((message) => message.role === "user" && message.text !== "")?.text ?? "",
    lastResults: messages.slice(lastAssistant + 1).flatMap((message) => message.results),
    body,
  };
}

function systemOf(messages: readonly FakeMessage[]): string {
  return messages
    .filter((message) => message.role === "system")
    .map((message) => message.text)
    .join("\n");
}

/** The text of a content value: a string, or the text parts of a list. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .filter((part) => part.type === "text")
    .map((part) => stringOr(part.text, ""))
    .join("\n");
}

function anthropicMessages(body: JsonObject): readonly FakeMessage[] {
  const names = new Map<string, string>();
  return objectsIn(body.messages).map((message) => {
    const blocks = objectsIn(message.content);
    const calls = blocks
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ id: stringOr(block.id, ""), name: stringOr(block.name, ""), input: block.input }));
    for (const call of calls) names.set(call.id, call.name);
    const results = blocks
      .filter((block) => block.type === "tool_result")
      .map((block) => {
        const callId = stringOr(block.tool_use_id, "");
        const isError = block.is_error === true;
        return { callId, name: names.get(callId) ?? "", text: textOf(block.content), isError };
      });
    return { role: roleOf(message.role), text: textOf(message.content), calls, results };
  });
}

function openaiMessagesView(body: JsonObject): readonly FakeMessage[] {
  const names = new Map<string, string>();
  return objectsIn(body.messages).map((message) => {
    const calls = objectsIn(message.tool_calls).map((call) => {
      const called = isObject(call.function) ? call.function : {};
      const input = parseJson(stringOr(called.arguments, ""));
      return { id: stringOr(call.id, ""), name: stringOr(called.name, ""), input };
    });
    for (const call of calls) names.set(call.id, call.name);
    if (message.role === "tool") {
      const callId = stringOr(message.tool_call_id, "");
      const result = { callId, name: names.get(callId) ?? "", text: textOf(message.content), isError: false };
      return { role: "user", text: "", calls, results: [result] };
    }
    return { role: roleOf(message.role), text: textOf(message.content), calls, results: [] };
  });
}

function roleOf(role: unknown): FakeMessage["role"] {
  if (role === "assistant") return "assistant";
  return role === "system" || role === "developer" ? "system" : "user";
}
