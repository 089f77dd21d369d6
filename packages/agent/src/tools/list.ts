/** `list`: one directory, entry by entry. */
import { join } from "node:path";
import { z } from "zod";
import { type Located, locate, resolveReal, rootsOf } from "./boundary.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { type IgnoreScope, isIgnored, scopeAt } from "./ignore-rules.ts";
import { toolLimits } from "./limits.ts";
import type { DirectoryEntry, FileOperations } from "./operations.ts";
import { count, succeed, ToolFault } from "./outcome.ts";
import { boundedLines } from "./search-place.ts";
import type { Tool, ToolOutcome, ToolPlace } from "./tool.ts";

const schema = z.strictObject({
  path: z.string().min(1).max(toolLimits.pathCharsMax).optional().describe("Directory, the tab's unless said"),
});

export function listTool(context: ToolContext): Tool {
  return defineTool({
    name: "list",
    schema,
    prepare: async ({ path }, place) => {
      const located = await locate(context.operations.files, place, path ?? ".");
      return {
        effect: located.where === "outside" ? "run" : "read",
        subject: { tool: "list", key: located.real, path: located.real },
        lock: null,
        run: () => listDirectory(context.operations.files, place, located),
      };
    },
  });
}

async function listDirectory(files: FileOperations, place: ToolPlace, located: Located): Promise<ToolOutcome> {
  const { real, shown } = located;
  const facts = await files.facts(real);
  if (facts === null) throw new ToolFault(`${shown} does not exist.`);
  if (facts.kind !== "directory") throw new ToolFault(`${shown} is not a directory. Use "read".`);
  const home = (await resolveReal(files, place.home)).real;
  const scope = await scopeAt(files, real);
  // Sizes and links are looked at in this very directory, whatever comes to stand under its name meanwhile.
  const held = await files.hold(real);
  const { lines, more } = await linesOf(files, scope, { held: held.path, home }).finally(() => held.close());
  const details = { summary: count(lines.length, "entry", "entries"), path: shown, matches: lines.length, more };
  const added = real === located.root && shown === "." ? await addedWords(files, place) : "";
  if (lines.length === 0) return succeed(`⟨empty directory⟩${added}`, details);
  const text = boundedLines(lines, { records: lines, more, slow: false }, `use "glob" with a pattern`);
  return succeed(text + added, details);
}

/** The model learns of what the person added where it looks around. */
async function addedWords(files: FileOperations, place: ToolPlace): Promise<string> {
  const [, ...added] = await rootsOf(files, place);
  return added.length === 0 ? "" : `\n⟨the person also added: ${added.join(", ")}⟩`;
}

interface Listing {
  /** A path that leads to the directory itself. */
  readonly held: string;
  /** `VARVE_HOME`, which is not shown. */
  readonly home: string;
}

async function linesOf(files: FileOperations, scope: IgnoreScope, { held, home }: Listing) {
  const { entries, more } = await files.entries(scope.directory, toolLimits.listEntriesMax);
  const visible = entries.filter(({ name }) => join(scope.directory, name) !== home);
  return { lines: await Promise.all(visible.map((entry) => entryLine(files, scope, { ...entry, held }))), more };
}

async function entryLine(
  files: FileOperations,
  scope: IgnoreScope,
  { name, kind, held }: DirectoryEntry & Pick<Listing, "held">,
): Promise<string> {
  const path = join(held, name);
  const ignored = name !== ".git" && isIgnored(scope, name, kind === "directory") ? " (ignored)" : "";
  switch (kind) {
    case "directory":
      return `${name}/${ignored}`;
    case "link":
      return `${name} -> ${await files.readLink(path)}${ignored}`;
    case "file":
      return `${name} (${count((await files.facts(path))?.size ?? 0, "byte")})${ignored}`;
    default:
      return `${name} (${kind})${ignored}`;
  }
}
