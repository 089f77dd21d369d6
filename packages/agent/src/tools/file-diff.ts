/** What a change of a file looks like: a bounded unified diff, and how many lines come and go. */
import { formatPatch, structuredPatch } from "diff";
import { toolLimits } from "./limits.ts";
import { cutEnd } from "./outcome.ts";

export interface FileDiff {
  /** Unified; ends with a line that begins with a backslash when it was cut. */
  readonly diff: string;
  readonly added: number;
  readonly removed: number;
}

export function diffOf(path: string, before: string, after: string): FileDiff {
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: toolLimits.diffEditsMax,
  });
  if (patch === undefined) return wholeDiff(path, before, after);
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    diff: bounded(formatPatch(patch)),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** Too many changes to look for the smallest ones. */
function wholeDiff(path: string, before: string, after: string): FileDiff {
  const old = linesOf(before);
  const now = linesOf(after);
  const head = `--- ${path}\n+++ ${path}\n@@ -1,${old.length} +1,${now.length} @@\n`;
  const body = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)].join("\n");
  return { diff: bounded(`${head}${body}\n`), added: now.length, removed: old.length };
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** A diff for a prompt or the page, which says when it goes on. */
export function bounded(diff: string): string {
  if (diff.length <= toolLimits.diffCharsMax) return diff;
  const kept = cutEnd(diff, toolLimits.diffCharsMax);
  return `${kept.slice(0, kept.lastIndexOf("\n") + 1)}\\ The diff goes on; it is too long to show.\n`;
}
