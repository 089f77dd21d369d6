/** `glob`: files by a pattern over their path. */
import { basename } from "node:path";
import { z } from "zod";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { count, succeed } from "./outcome.ts";
import { pathMatcher } from "./path-glob.ts";
import { type RecordKind, search } from "./search.ts";
import { boundedLines, type SearchPlace, scopeOf, searchPlace, shownPath } from "./search-place.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const schema = z.strictObject({
  pattern: z.string().min(1).max(toolLimits.patternCharsMax),
  path: z
    .string()
    .min(1)
    .max(toolLimits.pathCharsMax)
    .optional()
    .describe("Directory to search, the tab's unless said"),
});

export function globTool(context: ToolContext): Tool {
  return defineTool({
    name: "glob",
    schema,
    prepare: async ({ pattern, path }, place) => {
      const accepts = pathMatcher(pattern);
      const where = await searchPlace(context, place, path ?? ".");
      const { real } = where.located;
      return {
        effect: where.located.where === "outside" ? "run" : "read",
        subject: { tool: "glob", key: real, path: real },
        lock: null,
        run: ({ signal }) => findFiles(context, where, { accepts, signal }),
      };
    },
  });
}

async function findFiles(
  context: ToolContext,
  where: SearchPlace,
  { accepts, signal }: { readonly accepts: (path: string) => boolean; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const kind: RecordKind<string> = {
    args: ["--files"],
    separator: 0,
    parse: (text) => text.replace(/^\.\//, ""),
    pathOf: (path) => path,
    fromFile: async (path) => [path.slice(where.root.endsWith("/") ? where.root.length : where.root.length + 1)],
  };
  const scope = scopeOf(where, { max: toolLimits.globPathsMax, signal, accepts });
  const found = await search(context.operations, scope, kind);
  signal.throwIfAborted();
  const paths = found.records.map((path) => shownPath(where, path));
  const details = { summary: count(paths.length, "file"), matches: paths.length, more: found.more };
  if (paths.length === 0) return succeed("⟨no files match⟩", details);
  return succeed(boundedLines(paths, found, `narrow the pattern, or search below ${basename(where.root)}`), details);
}
