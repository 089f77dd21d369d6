import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import {
  anthropicMessages,
  chatMessages,
  type FakeMessage,
  type FakeToolResult,
  geminiMessages,
  responsesMessages,
  textOf,
} from "./message-views.ts";
import { isStreamed, modelOf, type Route, type Vendor } from "./vendor.ts";

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

/** A request to a vendor; where its address says more than the vendor, the route does too. */
export function viewRequest(
  asked: Vendor | { readonly vendor: Vendor; readonly route: Route },
  index: number,
  body: JsonObject,
): FakeRequest {
  const { vendor, route } =
    typeof asked === "string" ? { vendor: asked, route: { vendor: asked, model: null, stream: null } } : asked;
  const messages = messagesOf(vendor, body);
  const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
  return {
    vendor,
    index,
    model: modelOf(route, body),
    stream: isStreamed(route, body),
    system: vendor === "anthropic" ? textOf(body.system) : systemOf(messages),
    toolNames: toolNames(body.tools),
    messages,
    lastUserText: messages.findLast((message) => message.role === "user" && message.text !== "")?.text ?? "",
    lastResults: messages.slice(lastAssistant + 1).flatMap((message) => message.results),
    body,
  };
}

function messagesOf(vendor: Vendor, body: JsonObject): readonly FakeMessage[] {
  switch (vendor) {
    case "anthropic":
      return anthropicMessages(body);
    case "openai-responses":
      return responsesMessages(body);
    case "google":
      return geminiMessages(body);
    case "openai":
    case "deepseek":
    case "openrouter":
      return chatMessages(body);
  }
}

function toolNames(tools: unknown): readonly string[] {
  return objectsIn(tools).flatMap((tool) => {
    const declared = objectsIn(tool.functionDeclarations);
    const named = declared.length > 0 ? declared : [isObject(tool.function) ? tool.function : tool];
    return named.map((one) => stringOr(one.name, ""));
  });
}

function systemOf(messages: readonly FakeMessage[]): string {
  return messages
    .filter((message) => message.role === "system")
    .map((message) => message.text)
    .join("\n");
}
