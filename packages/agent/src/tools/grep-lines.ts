/** Found lines: parsed from ripgrep's output, or found in one file by ourselves where ripgrep can't run. */
import { relative, sep } from "node:path";
import { createContext, Script } from "node:vm";
import { toolLimits } from "./limits.ts";
import { type FileOperations, WorldFault } from "./operations.ts";
import { cutEnd, ToolFault } from "./outcome.ts";
import { readUpTo } from "./whole-file.ts";

export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** `path NUL line : text`, or with `-` for a line around a match. Anything else (separators, warnings) is none. */
export function parseLine(record: string): FoundLine | null {
  const cut = record.indexOf("\0");
  if (cut === -1) return null;
  const parts = /^(\d+)([:-])([\s\S]*)$/.exec(record.slice(cut + 1));
  if (parts === null) return null;
  const [, line = "", mark, text = ""] = parts;
  return {
    path: record.slice(0, cut).replace(/^\.\//, ""),
    line: Number(line),
    text: shownText(text),
    isMatch: mark === ":",
  };
}

const shownText = (text: string): string => {
  const bare = text.replace(/\r$/, "");
  const max = toolLimits.grepLineCharsMax;
  return bare.length > max ? `${cutEnd(bare, max)}…` : bare;
};

/** Line numbers, from 0, of the lines that match; null when a hostile pattern took too long. */
export type LineMatcher = (lines: readonly string[]) => readonly number[] | null;

export function matcherOf(wish: {
  readonly pattern: string;
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
}): LineMatcher {
  const source = wish.literal === true ? wish.pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : wish.pattern;
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, wish.ignoreCase === true ? "iu" : "u");
  } catch (thrown) {
    throw new ToolFault(`The search failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  // A pattern can take for ever; only the time limit of a context of its own can end it.
  const script = new Script("lines.flatMap((line, i) => (pattern.test(line) ? [i] : []))");
  return (lines) => {
    try {
      const found: unknown = script.runInContext(createContext({ lines, pattern }), { timeout: toolLimits.walkFileMs });
      return Array.isArray(found) ? found.filter((n) => typeof n === "number") : null;
    } catch {
      // Only the time limit ends the script early: this file is left out.
      return null;
    }
  };
}

interface FileSearch {
  readonly root: string;
  readonly path: string;
  readonly matches: LineMatcher;
  readonly context: number;
  readonly filesOnly: boolean;
  readonly signal: AbortSignal;
}

export async function linesInFile(files: FileOperations, wish: FileSearch): Promise<readonly FoundLine[]> {
  const text = await searchableText(files, wish.path);
  if (text === null || wish.signal.aborted) return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const found = wish.matches(lines.map((line) => line.replace(/\r$/, "")));
  if (found === null || found.length === 0) return [];
  const path = relative(wish.root, wish.path).split(sep).join("/");
  if (wish.filesOnly) return [{ path, line: 0, text: "", isMatch: true }];
  const matched = new Set(found);
  const shown = new Set(found.flatMap((at) => around(at, wish.context, lines.length)));
  return [...shown]
    .sort((a, b) => a - b)
    .map((at) => ({ path, line: at + 1, text: shownText(lines[at] ?? ""), isMatch: matched.has(at) }));
}

function around(at: number, context: number, length: number): readonly number[] {
  const from = Math.max(0, at - context);
  const to = Math.min(length - 1, at + context);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

async function searchableText(files: FileOperations, path: string): Promise<string | null> {
  try {
    const file = await files.open(path);
    try {
      const bytes = await readUpTo(file, toolLimits.walkFileBytesMax);
      if (bytes === null || bytes.includes(0)) return null;
      return new TextDecoder().decode(bytes);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    // A file that may not be read, or went away meanwhile, holds no match.
    if (thrown instanceof WorldFault) return null;
    throw thrown;
  }
}
