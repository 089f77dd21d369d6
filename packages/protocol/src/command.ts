/**
 * CONTRACT. Commands, client -> server. Every one is idempotent by id; `stop` names the turn it means, so that a late one
 * hits nothing. REST bodies of the same acts share these schemas.
 */
import { z } from "zod";
import {
  attachmentSchema,
  chunkIdSchema,
  limitChoiceSchema,
  tabIdSchema,
  turnIdSchema,
  verdictSchema,
} from "./chunk.ts";
import { effortSchema, permissionModeSchema, tabOptionsSchema } from "./frame.ts";
import { deliverySchema, logIdSchema } from "./op.ts";

const re = z.number().int().nonnegative();

export const helloCommandSchema = z.object({
  type: z.literal("hello"),
  v: z.array(z.number()),
  build: z.string().optional(),
  client: z.string(),
  /** The page's second key (programs send their bearer token in the upgrade instead). */
  key: z.string().optional(),
});
export const subCommandSchema = z.object({
  type: z.literal("sub"),
  re,
  tab: tabIdSchema,
  have: z.object({ log: logIdSchema, term: z.number(), seq: z.number() }).nullable(),
  /** Text lengths of the open blocks that the client already holds, by id. */
  open: z.record(z.string(), z.number()).optional(),
  /** Rows wanted at most; 0 from a detached window, which takes no rows. */
  want: z.number().int().nonnegative().optional(),
  focus: z.boolean(),
});
export const subWorkspaceCommandSchema = z.object({ type: z.literal("sub-workspace"), re });
export const unsubCommandSchema = z.object({ type: z.literal("unsub"), tab: tabIdSchema });

export const messageBodySchema = z.object({
  id: chunkIdSchema,
  text: z.string(),
  delivery: deliverySchema.optional(),
  /** With delivery `stop`: the turn that is meant. Another turn is not stopped by it. */
  turnId: turnIdSchema.optional(),
  attachments: z.array(attachmentSchema).optional(),
});
export const sendCommandSchema = z.object({
  type: z.literal("send"),
  re,
  tab: tabIdSchema,
  ...messageBodySchema.shape,
});

/** A change of a waiting message. `version` is the one the change was made on; a stale one is refused. */
export const queuePatchSchema = z.object({
  version: z.number().int().positive(),
  text: z.string().optional(),
  delivery: deliverySchema.optional(),
  state: z.enum(["queued", "held"]).optional(),
  /** With delivery `stop`: the turn that is meant. Another turn is not stopped by it. */
  turnId: turnIdSchema.optional(),
  /** Place it before this message; null: at the end. */
  before: chunkIdSchema.nullable().optional(),
});
const onMessage = { re, tab: tabIdSchema, id: chunkIdSchema, version: z.number().int().positive() };
export const editCommandSchema = z.object({
  type: z.literal("edit"),
  ...onMessage,
  text: z.string(),
  delivery: deliverySchema.optional(),
  turnId: turnIdSchema.optional(),
});
export const holdCommandSchema = z.object({ type: z.literal("hold"), ...onMessage });
export const releaseCommandSchema = z.object({ type: z.literal("release"), ...onMessage });
export const moveCommandSchema = z.object({ type: z.literal("move"), ...onMessage, before: chunkIdSchema.nullable() });
export const cancelCommandSchema = z.object({ type: z.literal("cancel"), re, tab: tabIdSchema, id: chunkIdSchema });

export const stopBodySchema = z.object({ turnId: turnIdSchema.optional(), callId: z.string().optional() });
export const stopCommandSchema = z.object({ type: z.literal("stop"), re, tab: tabIdSchema, ...stopBodySchema.shape });

/** A running tool call is to go on as a background job: it ends with a result that says so, and what waits is delivered. */
export const backgroundBodySchema = z.object({ callId: z.string(), turnId: turnIdSchema.optional() });
export const backgroundCommandSchema = z.object({
  type: z.literal("background"),
  re,
  tab: tabIdSchema,
  ...backgroundBodySchema.shape,
});

/** Answers a permission question (`verdict`), one of the `ask` tool (`text`) or of a limit (`choice`). The first answer wins. */
export const answerBodySchema = z.object({
  askId: chunkIdSchema,
  verdict: verdictSchema.optional(),
  /** With `tab` or `project`: which of the offered rules hold from now on. Absent: all that were offered, else this very key. */
  rules: z.array(z.string().max(1_000)).max(16).optional(),
  /** With `deny`: why. For `ask`: the answer. */
  text: z.string().optional(),
  choice: limitChoiceSchema.optional(),
  /** With `raise`: the new limit, above what is used. */
  raiseTo: z.number().positive().optional(),
});
export const answerCommandSchema = z.object({
  type: z.literal("answer"),
  re,
  tab: tabIdSchema,
  ...answerBodySchema.shape,
});
export const focusCommandSchema = z.object({ type: z.literal("focus"), tab: tabIdSchema, focus: z.boolean() });
/** A person has seen the rows up to `seq`. */
export const seenCommandSchema = z.object({ type: z.literal("seen"), tab: tabIdSchema, seq: z.number() });
export const pongCommandSchema = z.object({ type: z.literal("pong"), ts: z.number() });

export const commandSchema = z.discriminatedUnion("type", [
  helloCommandSchema,
  subCommandSchema,
  subWorkspaceCommandSchema,
  unsubCommandSchema,
  sendCommandSchema,
  editCommandSchema,
  holdCommandSchema,
  releaseCommandSchema,
  moveCommandSchema,
  cancelCommandSchema,
  stopCommandSchema,
  backgroundCommandSchema,
  answerCommandSchema,
  focusCommandSchema,
  seenCommandSchema,
  pongCommandSchema,
]);

/** What a patch changes of a tab's options: a field that is left out stays, null takes it back to its default. */
export const tabOptionsPatchSchema = z.object({
  cacheTtl: tabOptionsSchema.shape.cacheTtl.nullable(),
  moneyMax: tabOptionsSchema.shape.moneyMax.nullable(),
  stepsMax: tabOptionsSchema.shape.stepsMax.nullable(),
  keepWarm: tabOptionsSchema.shape.keepWarm.nullable(),
  autoCompact: tabOptionsSchema.shape.autoCompact.nullable(),
  sendAfterRestart: tabOptionsSchema.shape.sendAfterRestart.nullable(),
  sandbox: tabOptionsSchema.shape.sandbox.nullable(),
  network: tabOptionsSchema.shape.network.nullable(),
  directories: tabOptionsSchema.shape.directories.nullable(),
});
export const newTabBodySchema = z.object({
  id: tabIdSchema.optional(),
  title: z.string().optional(),
  cwd: z.string(),
  model: z.string().optional(),
  effort: effortSchema.optional(),
  permissions: permissionModeSchema.optional(),
  options: tabOptionsSchema.optional(),
});
export const tabPatchSchema = z.object({
  title: z.string().optional(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  effort: effortSchema.optional(),
  permissions: permissionModeSchema.optional(),
  options: tabOptionsPatchSchema.optional(),
  /** false restores a tab from the trash. */
  trashed: z.boolean().optional(),
});

export type HelloCommand = z.infer<typeof helloCommandSchema>;
export type SubCommand = z.infer<typeof subCommandSchema>;
export type SendCommand = z.infer<typeof sendCommandSchema>;
export type MessageBody = z.infer<typeof messageBodySchema>;
export type QueuePatch = z.infer<typeof queuePatchSchema>;
export type StopBody = z.infer<typeof stopBodySchema>;
export type BackgroundBody = z.infer<typeof backgroundBodySchema>;
export type AnswerBody = z.infer<typeof answerBodySchema>;
export type NewTabBody = z.infer<typeof newTabBodySchema>;
export type TabOptionsPatch = z.infer<typeof tabOptionsPatchSchema>;
export type TabPatch = z.infer<typeof tabPatchSchema>;
export type Command = z.infer<typeof commandSchema>;
