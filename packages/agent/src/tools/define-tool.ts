/**
 * A tool from its parts: schema, description, and how a call is prepared. The JSON schema is made at first use and is
 * the same bytes every time, because it is sealed into the prefix of each new log.
 */
import type { JsonObject, ToolDefinition } from "@varve/protocol";
import { jsonObjectSchema } from "@varve/protocol/schema";
import { z } from "zod";
import { descriptions, type ToolName } from "./descriptions.ts";
import { WorldFault } from "./operations.ts";
import { fail, faultWords, finish, stoppedWords, ToolFault } from "./outcome.ts";
import type { PreparedCall, Tool, ToolOutcome, ToolPlace, ToolRun } from "./tool.ts";

export interface ToolParts<Args> {
  readonly name: ToolName;
  readonly schema: z.ZodType<Args>;
  /** May throw `ToolFault` or `WorldFault`: the call then gets that text. */
  readonly prepare: (args: Args, place: ToolPlace) => Promise<PreparedCall>;
}

export function defineTool<Args>(parts: ToolParts<Args>): Tool {
  let made: ToolDefinition | null = null;
  return {
    get definition() {
      made ??= { name: parts.name, description: descriptions[parts.name], inputSchema: inputSchema(parts.schema) };
      return made;
    },
    async prepare(args, place) {
      const parsed = parts.schema.safeParse(withoutNulls(args));
      if (!parsed.success) return { error: argumentFault(parts.name, args, parsed.error) };
      try {
        const prepared = await parts.prepare(parsed.data, place);
        return { ...prepared, run: (run) => runSafely(prepared, run) };
      } catch (thrown) {
        return { error: thrownWords(thrown) };
      }
    },
  };
}

function inputSchema(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return jsonObjectSchema.parse(rest);
}

/** Some models send null for what they leave out. */
function withoutNulls(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function argumentFault(name: string, args: JsonObject, error: z.ZodError): string {
  if ("_invalid" in args) return `The arguments of ${name} are not a JSON object. Send them again as valid JSON.`;
  const found = error.issues.map((issue) => {
    const at = issue.path.length === 0 ? "" : `"${issue.path.join(".")}": `;
    return `${at}${issue.message}`;
  });
  return `The arguments of ${name} are not right. ${found.join("; ")}.`;
}

async function runSafely(prepared: PreparedCall, run: ToolRun): Promise<ToolOutcome> {
  if (run.signal.aborted) return fail("⟨stopped before it began⟩");
  try {
    return finish(await prepared.run(run));
  } catch (thrown) {
    if (run.signal.aborted) return fail(stoppedWords(run.signal));
    return finish(fail(thrownWords(thrown)));
  }
}

function thrownWords(thrown: unknown): string {
  if (thrown instanceof ToolFault) return thrown.message;
  if (thrown instanceof WorldFault) return faultWords(thrown.message, thrown.code);
  // A mistake of ours still has to answer the call; the text names it, so that it can be found.
  return `The tool failed by a mistake of its own: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}
