/** `edit`: replaces exact text in a file. Bytes outside the match never change. */
import { z } from "zod";
import { prepareChange } from "./change-file.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { count, isWellFormed, ToolFault } from "./outcome.ts";
import { type Replacement, replaceText } from "./replace-text.ts";
import type { Tool } from "./tool.ts";

const schema = z.strictObject({
  path: z.string().min(1).max(toolLimits.pathCharsMax),
  oldText: z.string().max(toolLimits.writeCharsMax).describe("Exactly as in the file"),
  newText: z.string().max(toolLimits.writeCharsMax),
  replaceAll: z.boolean().optional().describe("Replace every match"),
});
type Args = z.infer<typeof schema>;

export function editTool(context: ToolContext): Tool {
  return defineTool({
    name: "edit",
    schema,
    prepare: async (args, place) => {
      refuseBad(args);
      const replacement = { oldText: args.oldText, newText: args.newText, all: args.replaceAll ?? false };
      return await prepareChange(context, place, {
        tool: "edit",
        path: args.path,
        mustKnow: false,
        change: (standing, { shown }) => {
          const file = standing?.file ?? { text: "", marked: false };
          const { text, matches } = replacedOrFault(file.text, replacement, shown);
          if (text === file.text) throw new ToolFault("The edit would change nothing but line ends, which it keeps.");
          return { file: { text, marked: file.marked }, note: `Edited ${shown}: ${count(matches, "replacement")}` };
        },
      });
    },
  });
}

function refuseBad(args: Args): void {
  if (args.oldText === "") throw new ToolFault(`"oldText" is empty. Give the text to replace, or use "write".`);
  if (args.oldText === args.newText) throw new ToolFault(`"oldText" and "newText" are the same. Nothing was changed.`);
  if (!isWellFormed(args.oldText) || !isWellFormed(args.newText)) {
    throw new ToolFault("The text holds half of a surrogate pair, which no UTF-8 file can hold. Nothing was changed.");
  }
}

function replacedOrFault(text: string, replacement: Replacement, shown: string) {
  const replaced = replaceText(text, replacement);
  if (replaced.kind === "replaced") return replaced;
  if (replaced.kind === "several") {
    const more = replaced.matches > replaced.lines.length ? " ..." : "";
    throw new ToolFault(
      `"oldText" has ${replaced.matches} matches in ${shown} (lines ${replaced.lines.join(", ")}${more}). ` +
        `Nothing was changed. Give more surrounding text, or set "replaceAll".`,
    );
  }
  throw new ToolFault(
    `"oldText" was not found in ${shown}. Nothing was changed.${missHint(text, replacement.oldText)}`,
  );
}

/** The usual reasons for a miss, where one of them explains it. */
function missHint(text: string, oldText: string): string {
  const unnumbered = oldText.replace(/^\d+\t/gm, "");
  if (unnumbered !== oldText && text.includes(unnumbered)) return ` Leave out the line numbers that "read" adds.`;
  const bare = (some: string) => some.replace(/\s+/g, "");
  const wanted = bare(oldText);
  if (wanted !== "" && bare(text).includes(wanted))
    return " It is there with other whitespace (tabs, spaces, line ends).";
  return "";
}
