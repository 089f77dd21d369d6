/** A request as the demo model reads it: the task at hand, what was done for it, and what was said meanwhile. Pure. */
import type { LanguageModelV3CallOptions, LanguageModelV3Message } from "@ai-sdk/provider";

export interface DemoResult {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** One answer of ours that called tools, with what came back and what a person said behind it. */
export interface DemoStep {
  readonly results: readonly DemoResult[];
  readonly steers: readonly string[];
}

/** Tool name -> names of its parameters, as the request defines them. */
export type DemoTools = ReadonlyMap<string, readonly string[]>;

export interface DemoView {
  readonly task: string;
  readonly steps: readonly DemoStep[];
  readonly tools: DemoTools;
  /** Calls in the whole request: what makes the next call's id new. */
  readonly callsBefore: number;
}

interface Segment {
  task: string[];
  steps: { results: DemoResult[]; steers: string[] }[];
  /** Answered without a call, or stopped: what a person says next is a new task. */
  closed: boolean;
}

const goesOn = /^\s*(continue|go on|carry on|keep going|proceed|weiter)\s*[.!]?\s*$/i;
const stopped = /stopped by user|server restarted|time limit of this turn/i;

export function viewOf(options: LanguageModelV3CallOptions): DemoView {
  const segments: Segment[] = [];
  const calls = new Map<string, { readonly name: string; readonly args: Readonly<Record<string, unknown>> }>();
  for (const message of options.prompt) read(message, segments, calls);
  const current = taskAtHand(segments);
  return {
    task: current?.task.join("\n\n") ?? "",
    steps: current?.steps ?? [],
    tools: toolsOf(options),
    callsBefore: calls.size,
  };
}

/** "Continue" takes up the task before it where it stands. */
function taskAtHand(segments: readonly Segment[]): Segment | undefined {
  const last = segments.at(-1);
  const before = segments.at(-2);
  if (last === undefined || before === undefined || !goesOn.test(last.task.join(" "))) return last;
  return { ...before, steps: [...before.steps, ...last.steps] };
}

function read(
  message: LanguageModelV3Message,
  segments: Segment[],
  calls: Map<string, { readonly name: string; readonly args: Readonly<Record<string, unknown>> }>,
): void {
  if (message.role === "user") {
    for (const part of message.content) if (part.type === "text") hear(part.text, segments);
    return;
  }
  const segment = segments.at(-1);
  if (message.role === "assistant") {
    let called = false;
    for (const part of message.content) {
      if (part.type !== "tool-call") continue;
      called = true;
      calls.set(part.toolCallId, { name: part.toolName, args: argsOf(part.input) });
    }
    if (segment === undefined) return;
    if (called) segment.steps.push({ results: [], steers: [] });
    segment.closed = !called;
  }
  if (message.role !== "tool" || segment === undefined) return;
  for (const part of message.content) {
    if (part.type !== "tool-result") continue;
    const call = calls.get(part.toolCallId) ?? { name: part.toolName, args: {} };
    const text = outputText(part.output);
    const isError = part.output.type === "error-text" || part.output.type === "error-json";
    segment.steps.at(-1)?.results.push({ ...call, text, isError });
    if (isError && stopped.test(text)) segment.closed = true;
  }
}

function hear(text: string, segments: Segment[]): void {
  if (/^\s*<system-note>/.test(text) || /^\[continue\]$/.test(text.trim())) return;
  const segment = segments.at(-1);
  if (segment === undefined || segment.closed) segments.push({ task: [text], steps: [], closed: false });
  else if (segment.steps.length === 0) segment.task.push(text);
  else segment.steps.at(-1)?.steers.push(text);
}

function argsOf(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === "string") {
    try {
      return argsOf(JSON.parse(input));
    } catch {
      return {}; // A call of another model's with broken arguments tells this one nothing.
    }
  }
  return typeof input === "object" && input !== null ? { ...input } : {};
}

type Output = Extract<
  Extract<LanguageModelV3Message, { role: "tool" }>["content"][number],
  { type: "tool-result" }
>["output"];

function outputText(output: Output): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  if (output.type !== "content") return JSON.stringify("value" in output ? output.value : output);
  return output.value.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
}

function toolsOf(options: LanguageModelV3CallOptions): DemoTools {
  return new Map(
    (options.tools ?? []).flatMap((tool): [string, readonly string[]][] => {
      if (tool.type !== "function") return [];
      return [[tool.name, Object.keys(tool.inputSchema.properties ?? {})]];
    }),
  );
}
