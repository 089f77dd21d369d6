/** What a plan answers: something said, and the calls to make. No calls: the task is done. */
import type { DemoResult, DemoStep, DemoTools } from "./view.ts";

export interface DemoCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Move {
  readonly think: string;
  readonly say: string;
  readonly calls: readonly DemoCall[];
}

/** A plan sees its own task, its own steps and the tools; it is asked again after each step and keeps no state. */
export interface PlanView {
  readonly task: string;
  readonly steps: readonly DemoStep[];
  readonly tools: DemoTools;
}

export type Plan = (view: PlanView) => Move;

export const act = (think: string, say: string, calls: readonly DemoCall[]): Move => ({ think, say, calls });
export const done = (say: string, think = "That answers the request."): Move => ({ think, say, calls: [] });

/**
 * A call with the parameter names of this request's definition: each argument is given under the first of its names that
 * the tool knows, and left out when it knows none. Null when there is no such tool.
 */
export function callOf(
  tools: DemoTools,
  name: string,
  args: readonly (readonly [names: readonly string[], value: unknown])[],
): DemoCall | null {
  const known = tools.get(name);
  if (known === undefined) return null;
  const given = args.flatMap(([names, value]): [string, unknown][] => {
    const used = names.find((candidate) => known.includes(candidate));
    return used === undefined || value === undefined ? [] : [[used, value]];
  });
  return { name, args: Object.fromEntries(given) };
}

const path = ["path", "file", "filePath", "file_path"] as const;

export const calls = {
  read: (tools: DemoTools, file: string) => callOf(tools, "read", [[path, file]]),
  list: (tools: DemoTools, folder: string) => callOf(tools, "list", [[path, folder]]),
  glob: (tools: DemoTools, pattern: string) => callOf(tools, "glob", [[["pattern", "glob"], pattern]]),
  grep: (tools: DemoTools, pattern: string) => callOf(tools, "grep", [[["pattern", "regex", "query"], pattern]]),
  bash: (tools: DemoTools, command: string) => callOf(tools, "bash", [[["command", "cmd"], command]]),
  write: (tools: DemoTools, file: string, content: string) =>
    callOf(tools, "write", [
      [path, file],
      [["content", "text"], content],
    ]),
  edit: (tools: DemoTools, edit: { file: string; from: string; to: string; all: boolean }) =>
    callOf(tools, "edit", [
      [path, edit.file],
      [["oldText", "old", "old_string", "oldString"], edit.from],
      [["newText", "new", "new_string", "newString"], edit.to],
      [["replaceAll", "replace_all"], edit.all ? true : undefined],
    ]),
};

/** Makes the calls, or says which tool this tab lacks. */
export function tryCalls(think: string, say: string, wanted: readonly (DemoCall | null)[]): Move {
  const made = wanted.flatMap((call) => (call === null ? [] : [call]));
  if (made.length < wanted.length)
    return done("This tab does not give me the tool that I need for that, so I stop here.");
  return act(think, say, made);
}

export const resultsOf = (view: PlanView, name: string): readonly DemoResult[] =>
  view.steps.flatMap((step) => step.results.filter((result) => result.name === name));
export const lastResult = (view: PlanView): DemoResult | undefined => view.steps.at(-1)?.results.at(-1);

/** The plain ending after a call that was refused or failed. */
export function gaveUp(result: DemoResult): Move {
  const reason = firstLines(result.text, 3);
  return done(
    `The \`${result.name}\` call did not go through:\n\n> ${reason.replaceAll("\n", "\n> ")}\n\nI stop here.`,
  );
}

export function firstLines(text: string, max: number): string {
  const lines = text.trim().split("\n");
  const cut = lines.slice(0, max).map((line) => (line.length > 200 ? `${line.slice(0, 200)}…` : line));
  return lines.length > max ? `${cut.join("\n")}\n…` : cut.join("\n");
}

/** Lines of a file out of the numbered listing that `read` answers; the text as it is when it has no numbers. */
export function fileLines(text: string): readonly string[] {
  const lines = text.split("\n");
  const numbered = lines.flatMap((line) => {
    const match = /^\s*\d+\t(.*)$/.exec(line);
    return match === null ? [] : [match[1] ?? ""];
  });
  return numbered.length > 0 ? numbered : lines;
}

export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** `path:line:text` lines of a search. */
export function hitsOf(text: string): readonly Hit[] {
  return text.split("\n").flatMap((row) => {
    const match = /^(.+?):(\d+):(.*)$/.exec(row);
    if (match === null) return [];
    return [{ file: match[1] ?? "", line: Number(match[2]), text: (match[3] ?? "").trim() }];
  });
}

export const quoteShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
export const code = (text: string, language = ""): string => `\`\`\`${language}\n${text}\n\`\`\``;
export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
