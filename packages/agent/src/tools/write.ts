/** `write`: a whole file at once. Line ends and byte order mark, which `read` does not show, are kept from the old file. */
import { z } from "zod";
import { prepareChange, type Standing } from "./change-file.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { isWellFormed, ToolFault } from "./outcome.ts";
import { type FileText, isAllCrlf } from "./text-bytes.ts";
import type { Tool } from "./tool.ts";

const schema = z.strictObject({
  path: z.string().min(1).max(toolLimits.pathCharsMax),
  content: z.string().max(toolLimits.writeCharsMax).describe("The whole new text"),
});

export function writeTool(context: ToolContext): Tool {
  return defineTool({
    name: "write",
    schema,
    prepare: async ({ path, content }, place) => {
      if (!isWellFormed(content)) {
        throw new ToolFault(
          "The text holds half of a surrogate pair, which no UTF-8 file can hold. Nothing was written.",
        );
      }
      return await prepareChange(context, place, {
        tool: "write",
        path,
        mustKnow: true,
        change: (standing, { shown }) => ({
          file: inOldForm(content, standing),
          note: `${standing === null ? "Created" : "Replaced"} ${shown}`,
        }),
      });
    },
  });
}

function inOldForm(content: string, standing: Standing | null): FileText {
  const marked = standing?.file.marked === true && !content.startsWith("\ufeff");
  const toCrlf = standing !== null && isAllCrlf(standing.file.text) && !content.includes("\r");
  return { text: toCrlf ? content.replaceAll("\n", "\r\n") : content, marked };
}
