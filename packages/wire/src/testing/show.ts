/** Messages in one line: `U["a"] A[th(s1) "t" call(c1,{})] T[res(c1,"ok")]`. The system prompt in front is left out. */
import type { AssistantPart, ModelMessage, ResultPart, UserPart } from "../model-message.ts";

type Part = AssistantPart | ResultPart | UserPart;

export function show(messages: readonly ModelMessage[]): string {
  const first = messages.findIndex((message) => message.role !== "system");
  return showAll(first < 0 ? [] : messages.slice(first));
}

export const showAll = (messages: readonly ModelMessage[]): string => messages.map(showMessage).join(" ");

const letters = { system: "S", user: "U", assistant: "A", tool: "T" } as const;

function showMessage(message: ModelMessage): string {
  const letter = letters[message.role];
  if (message.role === "system") return `${letter}[${JSON.stringify(message.content)}]`;
  const parts: string[] = [];
  for (const part of message.content) if (part.type !== "tool-approval-response") parts.push(showPart(part));
  return `${letter}[${parts.join(" ")}]`;
}

function showPart(part: Part): string {
  switch (part.type) {
    case "text":
      return JSON.stringify(part.text);
    case "file":
      return `file(${part.mediaType},${String(part.data)})`;
    case "reasoning": {
      const { signature, redactedData } = part.providerOptions?.anthropic ?? {};
      if (typeof redactedData === "string") return `redacted(${redactedData})`;
      return `th(${typeof signature === "string" ? signature : JSON.stringify(part.text)})`;
    }
    case "tool-call":
      return `call(${part.toolCallId},${typeof part.input === "string" ? `'${part.input}'` : JSON.stringify(part.input)})`;
    case "tool-result":
      return showResult(part);
  }
}

function showResult({ toolCallId, output }: ResultPart): string {
  if (output.type === "text") return `res(${toolCallId},${JSON.stringify(output.value)})`;
  if (output.type === "error-text") return `error(${toolCallId},${JSON.stringify(output.value)})`;
  return `${output.type}(${toolCallId},${"value" in output ? JSON.stringify(output.value) : ""})`;
}

/** Which messages carry a breakpoint: `S* U A T*`. */
export function showBreakpoints(messages: readonly ModelMessage[]): string {
  return messages
    .map((message) => letters[message.role] + (message.providerOptions?.anthropic?.cacheControl ? "*" : ""))
    .join(" ");
}
