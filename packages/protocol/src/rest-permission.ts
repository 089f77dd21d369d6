/** CONTRACT. Answers of the REST routes about permissions. */
import { z } from "zod";
import { chunkIdSchema, permissionSubjectSchema, verdictSchema } from "./chunk.ts";
import { permissionModeSchema } from "./frame.ts";

export const ruleActionSchema = z.enum(["allow", "ask", "deny"]);
/** A rule in the words of a rule file, such as `bash: npm test`. */
const ruleSchema = z.object({ action: ruleActionSchema, rule: z.string() });

/** The rules that hold everywhere, and those that were answered "always in this project". */
export const permissionsBodySchema = z.object({
  person: z.object({ path: z.string(), rules: z.array(ruleSchema), problems: z.array(z.string()) }),
  projects: z.object({
    path: z.string(),
    problems: z.array(z.string()),
    /** By real directory, in the order in which they were first answered; each rule allows. */
    roots: z.array(z.object({ root: z.string(), rules: z.array(z.string()) })),
  }),
});
export const projectRuleSchema = z.object({ root: z.string().min(1).max(4_096), rule: z.string().min(1).max(1_000) });

/** From where a rule comes: a file of the person's, answers in this project, or a file in the workspace. */
export const ruleSourceSchema = z.enum(["person", "project", "workspace"]);
export const tabPermissionsBodySchema = z.object({
  mode: permissionModeSchema,
  /** What becomes of a call that is not allowed while nobody looks: a sentence, and whether it waits for a person. */
  unattended: z.object({ text: z.string(), asks: z.boolean() }),
  /** The tab's real directory, to which the rules of a project belong, and the file that keeps them. */
  root: z.string(),
  projectPath: z.string(),
  rules: z.array(ruleSchema.extend({ source: ruleSourceSchema })),
  problems: z.array(z.string()),
  /** What was answered "for this tab" and still holds, oldest first. */
  granted: z.array(
    z.object({
      askId: chunkIdSchema,
      at: z.number(),
      by: z.string(),
      rules: z.array(z.string()),
      /** Without rules: exactly this. */
      exact: z.object({ tool: z.string(), key: z.string() }).optional(),
    }),
  ),
  /** The questions of the log that the tab points to, newest first; subjects without their diff. */
  questions: z.array(
    z.object({
      askId: chunkIdSchema,
      seq: z.number(),
      at: z.number(),
      turnId: z.string(),
      callId: z.string(),
      subject: permissionSubjectSchema,
      /** Null while it waits, and when its turn ended before. */
      answer: z
        .object({
          seq: z.number(),
          at: z.number(),
          verdict: verdictSchema,
          by: z.string(),
          reason: z.string().optional(),
          rules: z.array(z.string()).optional(),
        })
        .nullable(),
    }),
  ),
  /** There are older questions. */
  more: z.boolean(),
});

export type RuleAction = z.infer<typeof ruleActionSchema>;
export type PermissionsBody = z.infer<typeof permissionsBodySchema>;
export type ProjectRule = z.infer<typeof projectRuleSchema>;
export type RuleSource = z.infer<typeof ruleSourceSchema>;
export type TabPermissionsBody = z.infer<typeof tabPermissionsBodySchema>;
