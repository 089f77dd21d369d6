/** Scripted models that decide by what is in the request, as a model does. */
import type { FakeToolResult } from "../provider/message-views.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply, ReplyBlock } from "../provider/script.ts";

export const say = (text: string): ReplyBlock => ({ type: "text", text });
export const call = (name: string, input: Readonly<Record<string, unknown>>): ReplyBlock => ({
  type: "tool_use",
  name,
  input,
});

export type Models = "anthropic/claude-test" | "openai-compatible/test-model";
export const bothVendors: readonly Models[] = ["anthropic/claude-test", "openai-compatible/test-model"];
/** One model of each way of speaking. */
export const allVendors: readonly string[] = [
  ...bothVendors,
  "openai/gpt-5.6-sol",
  "google/gemini-3.5-flash",
  "deepseek/deepseek-v4-pro",
  "openrouter/anthropic/claude-opus-5.5",
];

/** The result of the newest call of that tool, if the request ends in it. */
export const lastResult = (request: FakeRequest, tool: string): FakeToolResult | undefined =>
  request.lastResults.findLast(({ name }) => name === tool);

/** What a person said since the model's last answer. */
export function freshText({ messages }: FakeRequest): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const fresh = messages.slice(last + 1).filter(({ role }) => role === "user");
  return fresh.map(({ text }) => text).join("\n");
}

/** Answers with the newest line that a person wrote. */
export const echoed = (request: FakeRequest): string => `ok ${freshText(request).trim().split("\n").at(-1) ?? ""}`;

/**
 * A job on a package's sources: finds where a limit is defined, reads that file, raises the limit by one, and checks with
 * a command. Each step needs what the step before brought.
 */
export function limitJob(limit: string, command: string): (request: FakeRequest) => Reply {
  return (request) => {
    const blocks = limitStep(request, limit, command);
    return { blocks };
  };
}

function limitStep(request: FakeRequest, limit: string, command: string): readonly ReplyBlock[] {
  if (freshText(request).includes("go on")) return [say("Checking again."), call("bash", { command: "cat marker" })];
  const found = lastResult(request, "grep");
  if (found !== undefined) return [say("It is defined in one file."), call("read", { path: pathOf(found.text) })];
  const read = lastResult(request, "read");
  if (read !== undefined) {
    const value = limitIn(read.text, limit);
    const path = pathOf(earlierResult(request, "grep"));
    const [oldText, newText] = [`${limit}: ${value},`, `${limit}: ${value + 1},`];
    return [say(`It is ${value}, so I make it ${value + 1}.`), call("edit", { path, oldText, newText })];
  }
  if (lastResult(request, "edit") !== undefined) return [say("Checking."), call("bash", { command })];
  const ran = lastResult(request, "bash");
  if (ran !== undefined) return [say(`The command said: ${ran.text.trim()}`)];
  return [
    { type: "thinking", text: "First find it." },
    say("Searching."),
    call("grep", { pattern: `^  ${limit}: `, path: "." }),
  ];
}

function earlierResult({ messages }: FakeRequest, tool: string): string {
  return messages.flatMap(({ results }) => results).find(({ name }) => name === tool)?.text ?? "";
}

/** The path in `path:line:text`. */
const pathOf = (text: string): string => /^([^:\n]+):\d+:/m.exec(text)?.[1] ?? "nothing-was-found";

const limitIn = (text: string, limit: string): number =>
  Number(new RegExp(`${limit}: (\\d+),`).exec(text)?.[1] ?? Number.NaN);
