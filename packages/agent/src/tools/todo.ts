/** `todo`: the agent's list for its job. It lives in the log alone: each call states the whole of it. */
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { count, succeed } from "./outcome.ts";
import type { Tool } from "./tool.ts";

const schema = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(toolLimits.todoCharsMax),
        state: z.enum(["open", "doing", "done"]),
      }),
    )
    .max(toolLimits.todoItemsMax),
});

export function todoTool(): Tool {
  return defineTool({
    name: "todo",
    schema,
    prepare: async ({ items }) => ({
      effect: "read",
      subject: { tool: "todo", key: "todo" },
      lock: null,
      run: async () => {
        const done = items.filter(({ state }) => state === "done").length;
        const text = `The list has ${count(items.length, "item")}, ${done} done.`;
        return succeed(text, { summary: `${done} of ${items.length} done`, items });
      },
    }),
  });
}
