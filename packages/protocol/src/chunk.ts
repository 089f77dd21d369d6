/**
 * CONTRACT. Chunk kinds: what a row of the log may hold. Schema first; every type is inferred.
 * Imported for its values only by servers and tests (zod stays out of the browser: use `import type` there).
 */
import { z } from "zod";
import type { BlobHash, ChunkId, TabId, TurnId } from "./ids.ts";
import { blobPattern, idPattern } from "./ids.ts";
import type { JsonObject } from "./json.ts";

const branded = <T extends string>(pattern: RegExp) =>
  z
    .string()
    .regex(pattern)
    .transform((text) => text as T);
export const tabIdSchema = branded<TabId>(idPattern);
export const chunkIdSchema = branded<ChunkId>(idPattern);
/** "" is the turn id of rows outside any turn. */
export const turnIdSchema = branded<TurnId>(/^[A-Za-z0-9_-]{0,64}$/);
export const blobSchema = branded<BlobHash>(blobPattern);
export const jsonObjectSchema = z.record(z.string(), z.json()).transform((value) => value as JsonObject);

export const attachmentSchema = z.object({ blob: blobSchema, mediaType: z.string(), name: z.string() });

export const textDataSchema = z.object({
  text: z.string(),
  attachments: z.array(attachmentSchema).optional(),
  /** The block was cut (stop, crash); the text up to there is whole. */
  partial: z.boolean().optional(),
  providerMetadata: jsonObjectSchema.optional(),
  modelScope: z.string().optional(),
});

export const thinkingDataSchema = z.object({
  text: z.string(),
  /** The provider's replay token, merged over all parts of the block: signature, redactedData, encrypted content ... */
  metadata: jsonObjectSchema.optional(),
  /** Which models may be sent this thinking again: `<profile>:<provider's model id>`. */
  modelScope: z.string(),
  partial: z.boolean().optional(),
});

export const toolCallDataSchema = z.object({
  callId: z.string(),
  name: z.string(),
  /** Always an object: what `argsText` parses to, else `{_invalid: argsText}`. */
  arguments: jsonObjectSchema,
  /** Exactly what the model wrote. */
  argsText: z.string(),
  providerMetadata: jsonObjectSchema.optional(),
  /** Which models may be sent `providerMetadata` again; see `thinkingDataSchema`. Absent: none. */
  modelScope: z.string().optional(),
});

export const toolResultDataSchema = z.object({
  callId: z.string(),
  name: z.string(),
  /** What the model reads: non-empty, truncated when it was written. */
  result: z.string(),
  isError: z.boolean(),
  images: z.array(z.object({ blob: blobSchema, mediaType: z.string() })).optional(),
  /** The whole output, when `result` is a part of it. */
  spill: blobSchema.optional(),
  /** For the page only, by tool (a diff, found lines, an exit code ...); never on the provider's wire. */
  details: jsonObjectSchema.optional(),
});

export const errorDataSchema = z.object({
  message: z.string(),
  code: z.string().optional(),
  statusCode: z.number().optional(),
  hint: z.string().optional(),
});

export const toolDefinitionSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: jsonObjectSchema,
});

export const instructionFileSchema = z.object({ path: z.string(), bytes: z.number(), clipped: z.boolean() });

/** The frozen head of a log: the only source of system blocks, tool definitions and provider constants. */
export const prefixDataSchema = z.object({
  kind: z.literal("prefix"),
  foldVersion: z.number(),
  system: z.array(z.string()).min(1),
  /** By ascending name. */
  tools: z.array(toolDefinitionSchema),
  /** Profile name -> call options that never change within this log. */
  constants: z.record(z.string(), jsonObjectSchema),
  /** Which instruction files were read into `system`, for the page. */
  instructions: z.array(instructionFileSchema),
  /** SHA-256 of the canonical JSON of system, tools and constants. */
  hash: z.string(),
});
/** How a prefix row travels to clients. */
export const prefixStubSchema = z.object({
  kind: z.literal("prefix"),
  hash: z.string(),
  bytes: z.number(),
  instructions: z.array(instructionFileSchema),
});

/** One simple command, path or address of a call. `asks`: this is what is not allowed yet; `why` says what keeps it from being. */
export const permissionPartSchema = z.object({ text: z.string(), asks: z.boolean(), why: z.string().optional() });
/** What a permission question is about. `command` and `path` are shown exactly as they will be used. */
export const permissionSubjectSchema = z.object({
  tool: z.string(),
  /** What the rule "for this tab" would match exactly. */
  key: z.string(),
  command: z.string().optional(),
  path: z.string().optional(),
  url: z.string().optional(),
  /** A unified diff of what a write would do. */
  diff: z.string().optional(),
  /** What the call consists of, in its own order; absent where it is one thing. */
  parts: z.array(permissionPartSchema).max(64).optional(),
  /**
   * Rules in the words of a rule file: together the narrowest that would allow exactly the parts that ask. Absent where no
   * rule can say that; then only this very text can be allowed.
   */
  offers: z.array(z.string()).max(16).optional(),
  /** A command that will run in the sandbox. */
  sandboxed: z.boolean().optional(),
});
/** `tab` and `project` allow from now on: in this tab, or in every tab that works in this tab's directory. */
export const verdictSchema = z.enum(["once", "tab", "project", "deny"]);

export const cacheTtlSchema = z.enum(["5m", "1h"]);
/**
 * What a request was made for. `step` (also when absent): the turn's next step. `warm`: the last body again, so that its cache
 * entry lives on. `compaction`: the summary of the tab. Only steps are links of the tab's chain of requests.
 */
export const requestPurposeSchema = z.enum(["step", "warm", "compaction"]);

const requestData = z.object({
  kind: z.literal("request"),
  model: z.string(),
  scopeHash: z.string(),
  tailHash: z.string(),
  purpose: requestPurposeSchema.optional(),
  /** Lifetime of the entries that it writes; absent where the provider has none to choose. */
  ttl: cacheTtlSchema.optional(),
  /** UTF-16 units of its canonical blocks: with the tokens billed they calibrate every later estimate. */
  chars: z.number().optional(),
});
/** Why a request read less than the one before it had left to read. */
export const shortfallSchema = z.object({
  kind: z.enum(["expired", "model", "options", "prefix", "compaction", "guard", "provider"]),
  /** Attainable less read. */
  tokens: z.number(),
  /** With `expired`: from the start of the request that last touched the entry to the start of this one. */
  idleMs: z.number().optional(),
  /** The row that explains it: a prefix, compaction or model-changed row; with `guard` the row of the first differing block. */
  seq: z.number().optional(),
});
const usageData = z.object({
  kind: z.literal("usage"),
  model: z.string(),
  /** Tokens. Null where the provider said nothing: unknown is never 0. */
  fresh: z.number().nullable(),
  read: z.number().nullable(),
  write5m: z.number().nullable(),
  write1h: z.number().nullable(),
  output: z.number().nullable(),
  reasoning: z.number().nullable(),
  /** US dollars, null when the price is unknown. */
  price: z.number().nullable(),
  /** Tokens that could have been read had nothing been lost: the whole input of the tab's request before. Null: unknown. */
  attainable: z.number().nullable(),
  cause: shortfallSchema.optional(),
  purpose: requestPurposeSchema.optional(),
  /** The step broke off: input as the provider had told it by then, output estimated from what had come. No sign of a finish. */
  cut: z.boolean().optional(),
  /** Milliseconds: when the request began. A cache entry's lifetime counts from here. */
  startedAt: z.number().optional(),
  raw: jsonObjectSchema.optional(),
});
const stepVoidData = z.object({
  kind: z.literal("step-void"),
  turnId: turnIdSchema,
  step: z.number(),
  reason: z.string(),
});
const noteData = z.object({ kind: z.literal("note"), topic: z.string(), text: z.string() });
const noticeData = z.object({
  kind: z.literal("notice"),
  level: z.enum(["info", "warning", "error"]),
  code: z.string(),
  text: z.string(),
});
const permissionAskedData = z.object({
  kind: z.literal("permission"),
  state: z.literal("asked"),
  askId: chunkIdSchema,
  callId: z.string(),
  subject: permissionSubjectSchema,
});
const permissionAnsweredData = z.object({
  kind: z.literal("permission"),
  state: z.literal("answered"),
  askId: chunkIdSchema,
  callId: z.string(),
  verdict: verdictSchema,
  /** With `deny`: becomes the call's error result. */
  reason: z.string().optional(),
  /** What "for this tab" allows from now on: exactly this. */
  allows: z.object({ tool: z.string(), key: z.string() }).optional(),
  /** With `tab` or `project`: the rules among the offered ones that hold from now on. */
  rules: z.array(z.string()).max(16).optional(),
  by: z.string(),
});
/** What the answer to this question allowed "for this tab" holds no longer. */
const permissionRevokedData = z.object({
  kind: z.literal("permission-revoked"),
  /** The `askId` of the question. */
  revokes: chunkIdSchema,
  by: z.string(),
});
const askAskedData = z.object({
  kind: z.literal("ask"),
  state: z.literal("asked"),
  askId: chunkIdSchema,
  callId: z.string(),
  question: z.string(),
  options: z.array(z.string()),
});
const askAnsweredData = z.object({
  kind: z.literal("ask"),
  state: z.literal("answered"),
  askId: chunkIdSchema,
  callId: z.string(),
  answer: z.string(),
  by: z.string(),
});
/** A turn that came to a limit waits for a person at a step boundary. `used` and `max` in steps or US dollars. */
export const limitNameSchema = z.enum(["turn-steps", "tab-money", "day-money", "price-unknown"]);
const limitAskedData = z.object({
  kind: z.literal("limit"),
  state: z.literal("asked"),
  askId: chunkIdSchema,
  limit: limitNameSchema,
  used: z.number(),
  max: z.number(),
});
/** `go-on`: this turn alone may go as far again. `raise`: the limit itself is `raiseTo` from now on. `stop`: the turn ends. */
export const limitChoiceSchema = z.enum(["go-on", "raise", "stop"]);
const limitAnsweredData = z.object({
  kind: z.literal("limit"),
  state: z.literal("answered"),
  askId: chunkIdSchema,
  limit: limitNameSchema,
  choice: limitChoiceSchema,
  raiseTo: z.number().optional(),
  by: z.string(),
});
export const turnEndReasonSchema = z.enum(["done", "stopped", "deadline", "error", "restart"]);
const turnEndData = z.object({ kind: z.literal("turn-end"), reason: turnEndReasonSchema });
const modelChangedData = z.object({
  kind: z.literal("model-changed"),
  model: z.string(),
  effort: z.string(),
  /** Lifetime of the cache entries that requests write from here on. Absent: what the prefix says. */
  cacheTtl: cacheTtlSchema.optional(),
});
/** The fold begins with `summary`, then the kept rows below `keepFrom` by seq, then everything from `keepFrom` on. */
const compactionData = z.object({
  kind: z.literal("compaction"),
  summary: z.string(),
  keepFrom: z.number(),
  keptUserSeqs: z.array(z.number()),
  /** Notes below `keepFrom` that still hold (changed instructions) and are sent again. */
  keptNoteSeqs: z.array(z.number()).optional(),
  trigger: z.enum(["manual", "auto", "overflow"]).optional(),
  /** Tokens of a request before and, estimated, after. */
  tokensBefore: z.number().optional(),
  tokensAfter: z.number().optional(),
});
const compactionUndoData = z.object({ kind: z.literal("compaction-undo"), compactionSeq: z.number() });
const plainKinds = (["config-reload", "snapshot", "context-changed"] as const).map((kind) =>
  z.object({ kind: z.literal(kind), text: z.string() }),
);

const commonSystemKinds = [
  requestData,
  usageData,
  stepVoidData,
  noteData,
  noticeData,
  permissionAskedData,
  permissionAnsweredData,
  permissionRevokedData,
  askAskedData,
  askAnsweredData,
  limitAskedData,
  limitAnsweredData,
  turnEndData,
  modelChangedData,
  compactionData,
  compactionUndoData,
  ...plainKinds,
] as const;
export const systemDataSchema = z.union([prefixDataSchema, ...commonSystemKinds]);
export const travellingSystemDataSchema = z.union([prefixStubSchema, ...commonSystemKinds]);

export const roleSchema = z.enum(["user", "assistant", "tool", "system"]);
export const chunkTypeSchema = z.enum(["text", "thinking", "tool_call", "tool_result", "error", "system"]);

/** What a writer hands to `append`. `seq` and `term` are given by the log in the statement that inserts the row. */
const newRowBase = {
  id: chunkIdSchema,
  turnId: turnIdSchema,
  step: z.number().int().nonnegative(),
  createdAt: z.number(),
  /** Who wrote a user row: a client id; absent on rows of the agent. */
  by: z.string().optional(),
};
const sealedBase = { ...newRowBase, seq: z.number().int().positive(), term: z.number().int().nonnegative() };
/** Travelling rows name their tab, and may be clipped (`limits.rowTravelBytesMax`). */
const travellingBase = { ...sealedBase, tabId: tabIdSchema, clipped: z.boolean().optional() };

const typed = <B extends z.ZodRawShape, S extends z.ZodType>(base: B, system: S) =>
  z.discriminatedUnion("type", [
    z.object({ ...base, role: z.enum(["user", "assistant"]), type: z.literal("text"), data: textDataSchema }),
    z.object({ ...base, role: z.literal("assistant"), type: z.literal("thinking"), data: thinkingDataSchema }),
    z.object({ ...base, role: z.literal("assistant"), type: z.literal("tool_call"), data: toolCallDataSchema }),
    z.object({ ...base, role: z.literal("tool"), type: z.literal("tool_result"), data: toolResultDataSchema }),
    z.object({ ...base, role: z.enum(["assistant", "system"]), type: z.literal("error"), data: errorDataSchema }),
    z.object({ ...base, role: z.literal("system"), type: z.literal("system"), data: system }),
  ]);

export const newRowSchema = typed(newRowBase, systemDataSchema);
export const storedRowSchema = typed(sealedBase, systemDataSchema);
export const logChunkSchema = typed(travellingBase, travellingSystemDataSchema);

export type Attachment = z.infer<typeof attachmentSchema>;
export type TextData = z.infer<typeof textDataSchema>;
export type ThinkingData = z.infer<typeof thinkingDataSchema>;
export type ToolCallData = z.infer<typeof toolCallDataSchema>;
export type ToolResultData = z.infer<typeof toolResultDataSchema>;
export type ErrorData = z.infer<typeof errorDataSchema>;
export type SystemData = z.infer<typeof systemDataSchema>;
export type PrefixData = z.infer<typeof prefixDataSchema>;
export type PrefixStub = z.infer<typeof prefixStubSchema>;
export type InstructionFile = z.infer<typeof instructionFileSchema>;
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
export type PermissionPart = z.infer<typeof permissionPartSchema>;
export type PermissionSubject = z.infer<typeof permissionSubjectSchema>;
export type Verdict = z.infer<typeof verdictSchema>;
export type CacheTtl = z.infer<typeof cacheTtlSchema>;
export type RequestPurpose = z.infer<typeof requestPurposeSchema>;
export type Shortfall = z.infer<typeof shortfallSchema>;
export type LimitName = z.infer<typeof limitNameSchema>;
export type LimitChoice = z.infer<typeof limitChoiceSchema>;
export type TurnEndReason = z.infer<typeof turnEndReasonSchema>;
export type ChunkRole = z.infer<typeof roleSchema>;
export type ChunkType = z.infer<typeof chunkTypeSchema>;
/** A row before it is sealed. */
export type NewRow = z.infer<typeof newRowSchema>;
/** A sealed row as the log keeps it. */
export type StoredRow = z.infer<typeof storedRowSchema>;
/** A sealed row as it travels. */
export type LogChunk = z.infer<typeof logChunkSchema>;
