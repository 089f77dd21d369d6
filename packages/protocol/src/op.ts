/**
 * CONTRACT. Ops: everything that happens to a tab, in the order in which it happened. Each op but a delta and an output
 * takes the next `n` of its `(log, term)`. An op is emitted only after what it says is committed (open, delta, output and
 * status say nothing durable).
 */
import { z } from "zod";
import { chunkIdSchema, chunkTypeSchema, logChunkSchema, roleSchema, textDataSchema, turnIdSchema } from "./chunk.ts";
import type { LogId } from "./ids.ts";
import { idPattern } from "./ids.ts";

export const logIdSchema = z
  .string()
  .regex(idPattern)
  .transform((text) => text as LogId);
export const deliverySchema = z.enum(["steer", "queue", "stop"]);
export const stateOfTabSchema = z.enum(["idle", "running", "waiting", "error"]);

/** A block began to grow. It has no seq: that is given when it seals. */
export const chunkOpenSchema = z.object({
  op: z.literal("chunk-open"),
  id: chunkIdSchema,
  turnId: turnIdSchema,
  step: z.number().int().nonnegative(),
  /** Order of opening within the step. */
  index: z.number().int().nonnegative(),
  role: roleSchema,
  type: chunkTypeSchema,
  /** For the live output of a tool: whose. */
  callId: z.string().optional(),
  at: z.number(),
});
/** Text grew. `offset` in UTF-16 units of the block's text; a surrogate pair may be split between two deltas. */
export const chunkDeltaSchema = z.object({
  op: z.literal("chunk-delta"),
  id: chunkIdSchema,
  offset: z.number().int().nonnegative(),
  text: z.string(),
});
export const chunkSealSchema = z.object({ op: z.literal("chunk-seal"), row: logChunkSchema });
export const queuedMessageSchema = z.object({
  id: chunkIdSchema,
  version: z.number().int().positive(),
  position: z.number(),
  state: z.enum(["queued", "held"]),
  delivery: deliverySchema,
  data: textDataSchema,
  by: z.string(),
  at: z.number(),
});
export const messageQueuedSchema = z.object({ op: z.literal("message-queued"), ...queuedMessageSchema.shape });
export const messageDroppedSchema = z.object({
  op: z.literal("message-dropped"),
  id: chunkIdSchema,
  /** `cancelled` by a person; `lost`: an open block that never sealed (a retried step's, an empty one). */
  reason: z.enum(["cancelled", "lost"]),
});
export const waitSchema = z.object({
  askId: chunkIdSchema,
  kind: z.enum(["permission", "ask", "limit"]),
  /** "" with `limit`: the turn itself waits. */
  callId: z.string(),
});
export const longCallSchema = z.object({
  callId: z.string(),
  name: z.string(),
  /** When it began to run. */
  since: z.number(),
  /** It can go on as a background job: `background` ends the call with a result that names the job. */
  movable: z.boolean(),
});
/** One register, last stamp wins. Clients derive turn start and end from it. */
export const statusSchema = z.object({
  state: stateOfTabSchema,
  /** The open turn, or null. */
  turnId: turnIdSchema.nullable(),
  step: z.number().int().nonnegative(),
  waits: z.array(waitSchema),
  /** The step is between two attempts: `attempt` comes at `at`. */
  retry: z.object({ attempt: z.number(), at: z.number(), reason: z.string() }).optional(),
  /** The turn that ended last, or null. */
  lastSealed: turnIdSchema.nullable(),
  /**
   * Tool calls that have run for `limits.longCallMs` and still run, in the order in which they began; absent: none. What
   * waits as a steer waits for them.
   */
  calls: z.array(longCallSchema).optional(),
  /** Why writing is paused (disk full ...): the open block is kept in memory until it goes on. */
  fault: z.object({ code: z.string(), message: z.string() }).optional(),
});
export const statusOpSchema = z.object({ op: z.literal("status"), ...statusSchema.shape });
/** The tab points to another log now; a head follows on the same subscription. */
export const logOpSchema = z.object({ op: z.literal("log"), logId: logIdSchema });
/** Live output of a tool past `limits.liveOutputCharsMax`: total bytes and the end. Takes no `n`; last wins. */
export const outputSchema = z.object({
  op: z.literal("output"),
  callId: z.string(),
  bytes: z.number().int().nonnegative(),
  tail: z.string(),
});

export const opSchema = z.discriminatedUnion("op", [
  chunkOpenSchema,
  chunkDeltaSchema,
  chunkSealSchema,
  messageQueuedSchema,
  messageDroppedSchema,
  statusOpSchema,
  logOpSchema,
  outputSchema,
]);

export type Delivery = z.infer<typeof deliverySchema>;
export type StateOfTab = z.infer<typeof stateOfTabSchema>;
export type ChunkOpen = z.infer<typeof chunkOpenSchema>;
export type ChunkDelta = z.infer<typeof chunkDeltaSchema>;
export type ChunkSeal = z.infer<typeof chunkSealSchema>;
export type QueuedMessage = z.infer<typeof queuedMessageSchema>;
export type MessageQueued = z.infer<typeof messageQueuedSchema>;
export type MessageDropped = z.infer<typeof messageDroppedSchema>;
export type Wait = z.infer<typeof waitSchema>;
export type LongCall = z.infer<typeof longCallSchema>;
export type TabStatus = z.infer<typeof statusSchema>;
export type StatusOp = z.infer<typeof statusOpSchema>;
export type LogOp = z.infer<typeof logOpSchema>;
export type OutputOp = z.infer<typeof outputSchema>;
export type Op = z.infer<typeof opSchema>;
