/** `grep`: lines that match, as `path:line:text`; lines around them as `path-line-text`. */
import { z } from "zod";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { type FoundLine, linesInFile, matcherOf, parseLine } from "./grep-lines.ts";
import { toolLimits } from "./limits.ts";
import { count, succeed, ToolFault } from "./outcome.ts";
import { pathMatcher } from "./path-glob.ts";
import { type RecordKind, search } from "./search.ts";
import { boundedLines, type SearchPlace, scopeOf, searchPlace, shownPath } from "./search-place.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const schema = z.strictObject({
  pattern: z.string().min(1).max(toolLimits.patternCharsMax).describe("Regular expression"),
  path: z.string().min(1).max(toolLimits.pathCharsMax).optional().describe("Directory or file, the tab's unless said"),
  glob: z.string().min(1).max(toolLimits.patternCharsMax).optional().describe('Only these paths, such as "**/*.ts"'),
  ignoreCase: z.boolean().optional(),
  literal: z.boolean().optional().describe("Take the pattern as exact text"),
  context: z.int().min(0).max(toolLimits.grepContextMax).optional().describe("Lines to show around each match"),
  filesOnly: z.boolean().optional().describe("Answer only the paths of files that match"),
});
type Args = z.infer<typeof schema>;

export function grepTool(context: ToolContext): Tool {
  return defineTool({
    name: "grep",
    schema,
    prepare: async (args, place) => {
      if (/[\r\n\0]/.test(args.pattern))
        throw new ToolFault("The pattern can't hold line ends: lines are searched one by one.");
      const accepts = args.glob === undefined ? () => true : pathMatcher(args.glob);
      const where = await searchPlace(context, place, args.path ?? ".");
      const { real } = where.located;
      return {
        effect: where.located.where === "outside" ? "run" : "read",
        subject: { tool: "grep", key: real, path: real },
        lock: null,
        run: ({ signal }) => findLines(context, where, { args, accepts, signal }),
      };
    },
  });
}

interface Wish {
  readonly args: Args;
  readonly accepts: (path: string) => boolean;
  readonly signal: AbortSignal;
}

async function findLines(
  context: ToolContext,
  where: SearchPlace,
  { args, accepts, signal }: Wish,
): Promise<ToolOutcome> {
  const max = args.filesOnly === true ? toolLimits.globPathsMax : toolLimits.grepMatchesMax;
  const found = await search(
    context.operations,
    scopeOf(where, { max, signal, accepts }),
    lineKind(context, where, args),
  );
  signal.throwIfAborted();
  const advice = `narrow the pattern, "path" or "glob"`;
  const files = new Set(found.records.map(({ path }) => path));
  if (args.filesOnly === true) {
    const details = { summary: count(files.size, "file"), matches: files.size, files: files.size, more: found.more };
    if (files.size === 0) return succeed("⟨no matches⟩", details);
    return succeed(
      boundedLines(
        [...files].map((path) => shownPath(where, path)),
        found,
        advice,
      ),
      details,
    );
  }
  const matches = found.records.filter(({ isMatch }) => isMatch).length;
  const summary = `${count(matches, "match", "matches")} in ${count(files.size, "file")}`;
  const details = { summary, matches, files: files.size, more: found.more };
  if (matches === 0) return succeed("⟨no matches⟩", details);
  return succeed(boundedLines(shownLines(where, found.records), found, advice), details);
}

function shownLines(where: SearchPlace, records: readonly FoundLine[]): readonly string[] {
  const lines: string[] = [];
  let last: FoundLine | null = null;
  for (const record of records) {
    const gap = last !== null && (last.path !== record.path || last.line + 1 < record.line);
    // With context, groups that do not touch are set apart as grep does.
    if (gap && (last?.isMatch === false || !record.isMatch)) lines.push("--");
    const mark = record.isMatch ? ":" : "-";
    lines.push(`${shownPath(where, record.path)}${mark}${record.line}${mark}${record.text}`);
    last = record;
  }
  return lines;
}

function lineKind(context: ToolContext, where: SearchPlace, args: Args): RecordKind<FoundLine> {
  const filesOnly = args.filesOnly === true;
  const options = [
    ...(args.ignoreCase === true ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(args.literal === true ? ["--fixed-strings"] : []),
  ];
  return {
    args: filesOnly
      ? [...options, "--files-with-matches", "--regexp", args.pattern]
      : [
          ...options,
          ...["--line-number", "--max-columns=4096", "--max-columns-preview", "--context", String(args.context ?? 0)],
          ...["--regexp", args.pattern],
        ],
    separator: filesOnly ? 0 : 0x0a,
    parse: filesOnly ? (text) => ({ path: text.replace(/^\.\//, ""), line: 0, text: "", isMatch: true }) : parseLine,
    pathOf: ({ path }) => path,
    fromFile: (path, signal) =>
      linesInFile(context.operations.files, {
        root: where.root,
        path,
        matches: matcherOf(args),
        context: args.context ?? 0,
        filesOnly,
        signal,
      }),
  };
}
