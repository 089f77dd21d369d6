/** CONTRACT. Answers of the REST routes under `/api` (bodies that go in are in `command.ts`). */
import { z } from "zod";
import { chunkIdSchema, logChunkSchema } from "./chunk.ts";
import { openBlockSchema } from "./frame.ts";
import { deliverySchema, logIdSchema, statusSchema } from "./op.ts";

export const pageSchema = z.object({
  /** Ascending by seq. */
  chunks: z.array(logChunkSchema),
  /** Equals `tail`. */
  total: z.number(),
  tail: z.number(),
  logId: logIdSchema,
  term: z.number(),
});
export const headBodySchema = z.object({
  tail: z.number(),
  logId: logIdSchema,
  term: z.number(),
  n: z.number(),
  queue: z.array(
    z.object({
      id: chunkIdSchema,
      state: z.enum(["queued", "held"]),
      delivery: deliverySchema,
      position: z.number(),
      version: z.number(),
      text: z.string(),
    }),
  ),
  open: z.array(openBlockSchema),
  status: statusSchema,
});
export const acceptedSchema = z.object({ id: chunkIdSchema, state: z.enum(["queued", "held", "sealed", "dropped"]) });
/** What has become of a message, by the owner of this term. */
export const messageFateSchema = z.object({
  ...acceptedSchema.shape,
  /** Where it stands, when it is sealed in the log that the tab points to. */
  seq: z.number().int().positive().optional(),
  term: z.number(),
});

export const modelInfoSchema = z.object({
  /** `<credential>/<model>`. */
  id: z.string(),
  label: z.string(),
  provider: z.string(),
  available: z.boolean(),
  /** Why not, or what is special ("scripted, no AI"). */
  note: z.string().optional(),
  contextTokens: z.number().nullable(),
  /** US dollars for a million tokens, below the first tier. Null: not known. */
  prices: z
    .object({
      input: z.number().nullable(),
      output: z.number().nullable(),
      read: z.number().nullable(),
      write5m: z.number().nullable(),
      write1h: z.number().nullable(),
    })
    .nullable(),
});
export const modelsBodySchema = z.object({
  models: z.array(modelInfoSchema),
  default: z.string(),
  /** True when nothing but the demo model is there. */
  demoOnly: z.boolean(),
  /** Providers whose key was found but whose models come later. */
  recognised: z.array(z.object({ provider: z.string(), note: z.string() })),
});
export const providerNameSchema = z.enum([
  "anthropic",
  "openai",
  "google",
  "deepseek",
  "openrouter",
  "openai-compatible",
]);
export const credentialSchema = z.object({
  id: z.string(),
  provider: providerNameSchema,
  baseUrl: z.string().nullable(),
  /** Last four characters of the key, or null without one. */
  keyHint: z.string().nullable(),
  source: z.enum(["environment", "stored", "local-server"]),
  note: z.string().optional(),
});
export const newCredentialSchema = z.object({
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/)
    .optional(),
  provider: providerNameSchema,
  key: z.string().optional(),
  baseUrl: z.string().optional(),
});

export type ProviderName = z.infer<typeof providerNameSchema>;
export type Page = z.infer<typeof pageSchema>;
export type HeadBody = z.infer<typeof headBodySchema>;
export type Accepted = z.infer<typeof acceptedSchema>;
export type MessageFate = z.infer<typeof messageFateSchema>;
export type ModelInfo = z.infer<typeof modelInfoSchema>;
export type ModelsBody = z.infer<typeof modelsBodySchema>;
export type Credential = z.infer<typeof credentialSchema>;
export type NewCredential = z.infer<typeof newCredentialSchema>;
