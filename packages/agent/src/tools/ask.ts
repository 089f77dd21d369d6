/** `ask`: a question to the person. The loop keeps it as rows, so that any device may answer and a restart loses nothing. */
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { fail, stoppedWords, succeed } from "./outcome.ts";
import type { Tool } from "./tool.ts";

const schema = z.strictObject({
  question: z.string().min(1).max(toolLimits.questionCharsMax),
  options: z
    .array(z.string().min(1).max(toolLimits.optionCharsMax))
    .max(toolLimits.optionsMax)
    .optional()
    .describe("Answers to choose from; the person may also write another"),
});

export function askTool(): Tool {
  return defineTool({
    name: "ask",
    schema,
    prepare: async ({ question, options }) => ({
      effect: "ask",
      subject: { tool: "ask", key: question },
      lock: null,
      run: async (run) => {
        const answer = await run.ask(question, options ?? []);
        if (answer === null) return fail(run.signal.aborted ? stoppedWords(run.signal) : "⟨not answered⟩");
        return succeed(answer.trim() === "" ? "⟨the person answered with nothing⟩" : answer, {
          summary: "answered",
          answer,
        });
      },
    }),
  });
}
