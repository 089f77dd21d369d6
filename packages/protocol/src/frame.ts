/**
 * CONTRACT. Frames, server -> client, JSON text. One socket carries many tabs; within one subscription frames are ordered.
 */
import { z } from "zod";
import { cacheTtlSchema, chunkIdSchema, logChunkSchema, tabIdSchema } from "./chunk.ts";
import {
  chunkOpenSchema,
  logIdSchema,
  opSchema,
  outputSchema,
  queuedMessageSchema,
  stateOfTabSchema,
  statusSchema,
} from "./op.ts";

export const permissionModeSchema = z.enum(["read", "ask", "edits", "allow"]);
export const effortSchema = z.enum(["default", "low", "medium", "high"]);

/** What a person may set for one tab beside its model and mode. A field that is absent has its default. */
export const tabOptionsSchema = z.object({
  /** Lifetime of cache entries. Default: five minutes. */
  cacheTtl: cacheTtlSchema.optional(),
  /** US dollars that the tab and its children may cost. Default: no limit. */
  moneyMax: z.number().positive().optional(),
  /** Requests of one turn. Default: `turnLimits.stepsMax`. */
  stepsMax: z.number().int().positive().optional(),
  /** Sends the last body again before its cache entry expires, while the tab is idle. Default: off. */
  keepWarm: z
    .object({ on: z.boolean(), countMax: z.number().int().min(1).max(50), moneyMax: z.number().positive() })
    .optional(),
  /** Compacts by itself at this share of the model's window. Default: on, 0.8. */
  autoCompact: z.object({ on: z.boolean(), share: z.number().min(0.3).max(0.95) }).optional(),
  /** Sends what waits when the server has been started anew, as after a normal end: for unattended work. Default: off. */
  sendAfterRestart: z.boolean().optional(),
  /**
   * Whether commands run in a sandbox. `on`: where this machine has one, and without it where it has none, which the tab
   * says; `required`: a command that cannot be sandboxed is refused. Default: `off`.
   */
  sandbox: z.enum(["off", "on", "required"]).optional(),
  /** Hosts that sandboxed commands may reach, as `name` or `name:port`; `*` alone: all. Default: none. */
  network: z.array(z.string().min(1).max(255)).max(50).optional(),
  /** Directories beside the tab's own that its tools may use as if they were inside. Absolute. */
  directories: z.array(z.string().min(1).max(4_096)).max(20).optional(),
});

/** A tab as lists and the workspace feed show it. */
export const tabRecordSchema = z.object({
  id: tabIdSchema,
  title: z.string(),
  cwd: z.string(),
  model: z.string(),
  effort: effortSchema,
  permissions: permissionModeSchema,
  parentId: tabIdSchema.nullable(),
  logId: logIdSchema,
  tail: z.number().int().nonnegative(),
  state: stateOfTabSchema,
  /** Questions that wait for a person. */
  waits: z.number().int().nonnegative(),
  /** Messages that wait, held ones included. */
  queued: z.number().int().nonnegative(),
  /** The highest seq that a person has seen, on any device. */
  seen: z.number().int().nonnegative(),
  createdAt: z.number(),
  updatedAt: z.number(),
  trashedAt: z.number().nullable(),
  options: tabOptionsSchema,
  /** What its own requests cost, in US dollars; `unpriced` counts those whose price is not known. Children are not in it. */
  cost: z.object({ price: z.number(), unpriced: z.number().int().nonnegative() }),
  /** Milliseconds: when the tab's newest cache entry expires. Null: none is known. */
  cacheUntil: z.number().nullable(),
});

/** An open block as a head gives it: its text from `offset` on. */
export const openBlockSchema = z.object({
  ...chunkOpenSchema.omit({ op: true }).shape,
  offset: z.number().int().nonnegative(),
  text: z.string(),
});

export const helloFrameSchema = z.object({
  type: z.literal("hello"),
  v: z.number(),
  /** Build of the page that this server serves; another one reloads itself. */
  build: z.string(),
  /** New at every start of the server. */
  boot: z.string(),
  me: z.object({ client: z.string() }),
});
export const headFrameSchema = z.object({
  type: z.literal("head"),
  re: z.number().optional(),
  tab: tabIdSchema,
  log: logIdSchema,
  term: z.number(),
  n: z.number(),
  /** `append`: rows follow `from`, which the server vouched for. `reset`: forget every sealed row first. */
  from: z.number(),
  mode: z.enum(["append", "reset"]),
  rows: z.array(logChunkSchema),
  tail: z.number(),
  queue: z.array(queuedMessageSchema),
  open: z.array(openBlockSchema),
  outputs: z.array(outputSchema.omit({ op: true })),
  status: statusSchema,
});
/** `a..b` are the stamps of the ops that take one; a frame of deltas alone has a = b + 1. Applied atomically. */
export const opsFrameSchema = z.object({
  type: z.literal("ops"),
  tab: tabIdSchema,
  log: logIdSchema,
  term: z.number(),
  a: z.number(),
  b: z.number(),
  ops: z.array(opSchema),
});
export const ackFrameSchema = z.object({
  type: z.literal("ack"),
  re: z.number(),
  id: chunkIdSchema.optional(),
  state: z.enum(["queued", "held", "sealed", "dropped", "done"]),
  seq: z.number().optional(),
  version: z.number().optional(),
});
export const errFrameSchema = z.object({
  type: z.literal("err"),
  re: z.number().optional(),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  /** The current record, where the error is about a stale one. */
  current: queuedMessageSchema.optional(),
});
export const pingFrameSchema = z.object({ type: z.literal("ping"), ts: z.number() });
export const byeFrameSchema = z.object({ type: z.literal("bye"), code: z.string(), retryMs: z.number() });
/** The tab list: `full` replaces all that is known; else records replace by id. `n` grows within one `boot`. */
export const workspaceFrameSchema = z.object({
  type: z.literal("workspace"),
  re: z.number().optional(),
  boot: z.string(),
  n: z.number(),
  full: z.boolean(),
  tabs: z.array(tabRecordSchema),
  /** Ids of purged tabs. */
  purged: z.array(tabIdSchema),
});

export const frameSchema = z.discriminatedUnion("type", [
  helloFrameSchema,
  headFrameSchema,
  opsFrameSchema,
  ackFrameSchema,
  errFrameSchema,
  pingFrameSchema,
  byeFrameSchema,
  workspaceFrameSchema,
]);

export type PermissionMode = z.infer<typeof permissionModeSchema>;
export type Effort = z.infer<typeof effortSchema>;
export type TabOptions = z.infer<typeof tabOptionsSchema>;
export type TabRecord = z.infer<typeof tabRecordSchema>;
export type OpenBlock = z.infer<typeof openBlockSchema>;
export type HelloFrame = z.infer<typeof helloFrameSchema>;
export type HeadFrame = z.infer<typeof headFrameSchema>;
export type OpsFrame = z.infer<typeof opsFrameSchema>;
export type AckFrame = z.infer<typeof ackFrameSchema>;
export type ErrFrame = z.infer<typeof errFrameSchema>;
export type PingFrame = z.infer<typeof pingFrameSchema>;
export type ByeFrame = z.infer<typeof byeFrameSchema>;
export type WorkspaceFrame = z.infer<typeof workspaceFrameSchema>;
export type Frame = z.infer<typeof frameSchema>;
