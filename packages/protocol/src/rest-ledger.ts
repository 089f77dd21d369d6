/**
 * CONTRACT. Answers of the routes about cost, cache and context. Money is in US dollars, times in milliseconds, `day` is
 * the server's local day as YYYY-MM-DD. What is not known is null or counted as unknown, never 0.
 */
import { z } from "zod";
import {
  cacheTtlSchema,
  jsonObjectSchema,
  requestPurposeSchema,
  shortfallSchema,
  tabIdSchema,
  turnIdSchema,
} from "./chunk.ts";
import { effortSchema } from "./frame.ts";

const count = z.number().int().nonnegative();

/** The sum of some requests. Token fields add up what was told; `untold` counts requests that told no tokens at all. */
export const ledgerSumSchema = z.object({
  requests: count,
  untold: count,
  fresh: z.number(),
  read: z.number(),
  write5m: z.number(),
  write1h: z.number(),
  output: z.number(),
  reasoning: z.number(),
  /** Over requests of which both are known: what could have been read, and how much of just that was read. */
  attainable: z.number(),
  attained: z.number(),
  /** Of the priced requests. */
  price: z.number(),
  unpriced: count,
  /** What the tokens read would have cost more had they been fresh, less the surcharge of writing. */
  saved: z.number(),
  /** Keep-warm requests: they are in the figures above, and here once more by themselves. */
  warm: z.object({ requests: count, price: z.number() }),
});

/** One request. Everything but `price` and `attainable` is as the provider told it. */
export const ledgerStepSchema = z.object({
  /** Of the `request` row; null where the log has none. */
  requestSeq: z.number().nullable(),
  usageSeq: z.number(),
  turnId: turnIdSchema,
  step: count,
  purpose: requestPurposeSchema,
  model: z.string(),
  startedAt: z.number(),
  endedAt: z.number(),
  fresh: z.number().nullable(),
  read: z.number().nullable(),
  write5m: z.number().nullable(),
  write1h: z.number().nullable(),
  output: z.number().nullable(),
  reasoning: z.number().nullable(),
  price: z.number().nullable(),
  attainable: z.number().nullable(),
  cause: shortfallSchema.nullable(),
  /** What the shortfall cost more than reading would have. */
  causePrice: z.number().nullable(),
});

export const ledgerBodySchema = z.object({
  tab: tabIdSchema,
  /** The tab alone, over all logs that it ever pointed to. */
  own: ledgerSumSchema,
  /** With its children and theirs. */
  whole: ledgerSumSchema,
  children: z.array(z.object({ tab: tabIdSchema, title: z.string(), sum: ledgerSumSchema })),
  turns: z.array(z.object({ turnId: turnIdSchema, startedAt: z.number(), sum: ledgerSumSchema })),
  models: z.array(z.object({ model: z.string(), sum: ledgerSumSchema })),
  /** Newest first, of the log that the tab points to; `before` of the next page is the last one's `usageSeq`. */
  steps: z.array(ledgerStepSchema),
  more: z.boolean(),
});

export const usageBodySchema = z.object({
  /** Ascending, without gaps; the last one is today. */
  days: z.array(z.object({ day: z.string(), sum: ledgerSumSchema })),
  models: z.array(z.object({ model: z.string(), sum: ledgerSumSchema })),
  /** `title` is null when the tab was purged: what it cost stays. */
  tabs: z.array(z.object({ tab: tabIdSchema, title: z.string().nullable(), sum: ledgerSumSchema })),
  today: ledgerSumSchema,
  dayMoneyMax: z.number().nullable(),
});

/** What an act would do to the next request's bill, before it is done. Estimates; `price` is for the input alone. */
export const previewSchema = z.object({
  /** Input tokens of the next request, a new message not counted. */
  tokens: z.number(),
  read: z.number(),
  written: z.number(),
  fresh: z.number(),
  price: z.number().nullable(),
  /** The same request if nothing is changed. */
  priceNow: z.number().nullable(),
  /** Why a figure is null, or what it leaves out. */
  note: z.string().optional(),
});

export const contextBodySchema = z.object({
  meter: z.object({
    /** Of the next request without a new message. Null before the first one. */
    tokens: z.number().nullable(),
    /** False when it is exactly what the provider billed. */
    estimated: z.boolean(),
    window: z.number().nullable(),
    /** Tokens at which it compacts by itself; null: never. */
    compactAt: z.number().nullable(),
  }),
  cache: z.object({
    ttl: cacheTtlSchema.nullable(),
    /** When the newest entry expires; null: none is known. */
    until: z.number().nullable(),
    /** Tokens that the next request can read until then. */
    tokens: z.number().nullable(),
    /** What the next request costs more once it is gone. */
    lossPrice: z.number().nullable(),
  }),
  /** What differs between the frozen prefix (and what was told since) and what a new tab would begin with. */
  changes: z.array(
    z.object({
      topic: z.enum(["instructions", "system", "tools", "constants"]),
      name: z.string(),
      change: z.enum(["added", "removed", "edited"]),
      detail: z.string().optional(),
    }),
  ),
  /** Null when there is nothing to apply. */
  tell: previewSchema.nullable(),
  rebuild: previewSchema.nullable(),
  /** The next request after a compaction, and what the summary itself costs. */
  compact: z.object({ summary: previewSchema, after: previewSchema }).nullable(),
  compactions: z.array(
    z.object({
      seq: z.number(),
      at: z.number(),
      trigger: z.enum(["manual", "auto", "overflow"]),
      keepFrom: z.number(),
      tokensBefore: z.number().nullable(),
      tokensAfter: z.number().nullable(),
      undone: z.boolean(),
    }),
  ),
  warm: z.object({
    /** `unsupported`: this kind of model has no way to keep its cache warm. `over`: count or money is used up. */
    state: z.enum(["off", "unsupported", "waiting", "over", "running"]),
    nextAt: z.number().nullable(),
    count: count,
    price: z.number(),
    /** What one refresh costs, what one miss costs, and after how many refreshes they are equal. */
    refreshPrice: z.number().nullable(),
    missPrice: z.number().nullable(),
    breakEven: z.number().nullable(),
    /** Why the last refresh failed; absent when it did not. */
    failure: z.string().optional(),
  }),
});
export const applyContextBodySchema = z.object({ apply: z.enum(["tell", "rebuild"]) });
export const undoCompactionBodySchema = z.object({ seq: z.number().int().positive() });

/** `?model=&effort=&cacheTtl=` of GET /tabs/:id/preview. */
export const previewBodySchema = z.object({ preview: previewSchema, model: z.string(), effort: effortSchema });

/** One block of a request as it was sent. */
export const sentBlockSchema = z.object({
  index: count,
  role: z.enum(["tools", "system", "user", "assistant", "tool"]),
  kind: z.enum(["tools", "system", "text", "thinking", "call", "result", "file"]),
  chars: count,
  /** Estimated from the request's own bill where there is one. */
  tokens: z.number(),
  state: z.enum(["cached", "written", "fresh", "unknown"]),
  /** A cache breakpoint stands on it. */
  marked: z.boolean(),
  /** JSON of the block, cut after 4096 characters. */
  json: z.string(),
  clipped: z.boolean(),
});
export const sentRequestBodySchema = z.object({
  seq: z.number(),
  model: z.string(),
  at: z.number(),
  /** Call options beside the prompt. */
  options: jsonObjectSchema,
  blocks: z.array(sentBlockSchema),
  /** Blocks before the first one given here. */
  skipped: count,
  tailHash: z.string(),
  /** Whether the fold of today gives the very bytes that were sent. */
  intact: z.boolean(),
  usage: ledgerStepSchema.nullable(),
});

export const recordingSchema = z.object({
  id: z.string(),
  format: z.enum(["pi", "claude-code"]),
  path: z.string(),
  title: z.string(),
  bytes: z.number(),
  modifiedAt: z.number(),
});
/** What a recording of another tool cost, and how much of that was prefix written again. */
export const billBodySchema = z.object({
  path: z.string(),
  format: z.enum(["pi", "claude-code"]),
  sum: ledgerSumSchema,
  /** What the file itself says it cost, where it says so. */
  told: z.number().nullable(),
  models: z.array(z.object({ model: z.string(), sum: ledgerSumSchema })),
  rewritten: z.object({ tokens: z.number(), price: z.number().nullable(), share: z.number().nullable() }),
  causes: z.array(
    z.object({
      kind: shortfallSchema.shape.kind,
      requests: count,
      tokens: z.number(),
      price: z.number().nullable(),
    }),
  ),
  /** The dearest first. */
  shortfalls: z.array(
    z.object({
      request: count,
      at: z.number(),
      model: z.string(),
      attainable: z.number(),
      read: z.number(),
      cause: shortfallSchema,
      price: z.number().nullable(),
    }),
  ),
  /** Lines that could not be read. */
  unreadable: count,
});

export type LedgerSum = z.infer<typeof ledgerSumSchema>;
export type LedgerStep = z.infer<typeof ledgerStepSchema>;
export type LedgerBody = z.infer<typeof ledgerBodySchema>;
export type UsageBody = z.infer<typeof usageBodySchema>;
export type Preview = z.infer<typeof previewSchema>;
export type ContextBody = z.infer<typeof contextBodySchema>;
export type PreviewBody = z.infer<typeof previewBodySchema>;
export type SentBlock = z.infer<typeof sentBlockSchema>;
export type SentRequestBody = z.infer<typeof sentRequestBodySchema>;
export type Recording = z.infer<typeof recordingSchema>;
export type BillBody = z.infer<typeof billBodySchema>;
