import { isObject, type JsonObject, objectsIn, parseJson, stringOr } from "../json.ts";

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

/** The text of a content value: a string, or the text parts of a list. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .filter((part) => part.type === "text" || part.type === "input_text" || part.type === "output_text")
    .map((part) => stringOr(part.text, ""))
    .join("\n");
}

export function anthropicMessages(body: JsonObject): readonly FakeMessage[] {
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

export function chatMessages(body: JsonObject): readonly FakeMessage[] {
  const names = new Map<string, string>();
  return objectsIn(body.messages).map((message) => {
    const calls = objectsIn(message.tool_calls).map((call) => {
      const called = isObject(call.function) ? call.function : {};
      const input = parseJson(stringOr(called.arguments, ""));
      return { id: stringOr(call.id, ""), name: stringOr(called.name, ""), input };
    });
    for (const call of calls) names.set(call.id, call.name);
    if (message.role !== "tool") return saidMessage(message.role, textOf(message.content), calls);
    return resultMessage(stringOr(message.tool_call_id, ""), names, textOf(message.content));
  });
}

/** One message an item; reasoning says nothing to a scripted model and is left out. */
export function responsesMessages(body: JsonObject): readonly FakeMessage[] {
  const names = new Map<string, string>();
  return objectsIn(body.input).flatMap((item): readonly FakeMessage[] => {
    const id = stringOr(item.call_id, "");
    if (item.type === "function_call") {
      const call = { id, name: stringOr(item.name, ""), input: parseJson(stringOr(item.arguments, "")) };
      names.set(id, call.name);
      return [saidMessage("assistant", "", [call])];
    }
    if (item.type === "function_call_output") return [resultMessage(id, names, textOf(item.output))];
    return item.role === undefined ? [] : [saidMessage(item.role, textOf(item.content), [])];
  });
}

/** The system instruction in front, then one message a turn. */
export function geminiMessages(body: JsonObject): readonly FakeMessage[] {
  const system = isObject(body.systemInstruction) ? [saidMessage("system", partsText(body.systemInstruction), [])] : [];
  return [
    ...system,
    ...objectsIn(body.contents).map((turn): FakeMessage => {
      const parts = objectsIn(turn.parts);
      const calls = parts
        .flatMap((part) => objectsIn([part.functionCall]))
        .map((call) => ({ id: stringOr(call.id, ""), name: stringOr(call.name, ""), input: call.args }));
      const results = parts
        .flatMap((part) => objectsIn([part.functionResponse]))
        .map((result) => ({
          callId: stringOr(result.id, ""),
          name: stringOr(result.name, ""),
          text: isObject(result.response) ? String(result.response.content ?? "") : "",
          isError: false,
        }));
      return { role: turn.role === "model" ? "assistant" : "user", text: partsText(turn), calls, results };
    }),
  ];
}

function partsText(turn: JsonObject): string {
  return objectsIn(turn.parts)
    .filter((part) => typeof part.text === "string" && part.thought !== true)
    .map((part) => stringOr(part.text, ""))
    .join("\n");
}

function saidMessage(role: unknown, text: string, calls: readonly FakeToolCall[]): FakeMessage {
  return { role: roleOf(role), text, calls, results: [] };
}

function resultMessage(callId: string, names: ReadonlyMap<string, string>, text: string): FakeMessage {
  const result: FakeToolResult = { callId, name: names.get(callId) ?? "", text, isError: false };
  return { role: "user", text: "", calls: [], results: [result] };
}

function roleOf(role: unknown): FakeMessage["role"] {
  if (role === "assistant") return "assistant";
  return role === "system" || role === "developer" ? "system" : "user";
}
