export {
  anthropicBlocks,
  anthropicPrefix,
  firstDivergence,
  isBlockPrefix,
  openaiMessages,
  type WireBlock,
} from "./blocks.ts";
export { anthropicProblem } from "./provider/anthropic-rules.ts";
export {
  type CacheBlock,
  type CacheFigures,
  type CacheModel,
  createCacheModel,
  estimateTokens,
} from "./provider/cache-model.ts";
export { createFakeProvider, type FakeProvider, type FakeProviderOptions } from "./provider/fake-provider.ts";
export type { EmittedDelta, Gate } from "./provider/gate.ts";
export { openaiProblem } from "./provider/openai-rules.ts";
export type { CallOutcome, RecordedCall } from "./provider/recorded-call.ts";
export type { FakeMessage, FakeRequest, FakeToolCall, FakeToolResult } from "./provider/request-view.ts";
export type {
  Failure,
  FailurePoint,
  Match,
  Reply,
  ReplyBlock,
  ReplyFunction,
  ReplyUsage,
  ScriptEntry,
  ScriptItem,
} from "./provider/script.ts";
