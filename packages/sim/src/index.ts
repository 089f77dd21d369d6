export {
  anthropicBlocks,
  anthropicPrefix,
  firstDivergence,
  isBlockPrefix,
  openaiMessages,
  type WireBlock,
} from "./blocks.ts";
export {
  type AccountedFigures,
  type BegunRequest,
  type CacheBlock,
  type CacheFigures,
  type CacheModel,
  estimateTokens,
} from "./cache/cache-model.ts";
export { createCacheModel } from "./cache/marked-cache.ts";
export { cacheBlocks, cacheScope, renderedAnswer } from "./cache/request-blocks.ts";
export { type CacheRules, createVendorCache } from "./cache/vendor-cache.ts";
export { type FailurePlan, failAt, failingPort, failOn, failWhen } from "./fail-on.ts";
export { createFakeClock, type FakeClock, settle } from "./fake-clock.ts";
export { countingIdTexts, createFakeIds, createSeededIds } from "./fake-ids.ts";
export { type CommitFailure, faultyLog } from "./faulty-log.ts";
export { growTab, type LargeTab, type LargeTabOptions } from "./large-tab.ts";
export { createPrng, type Prng } from "./prng.ts";
export { makeProject, type Project, type ProjectKind } from "./project.ts";

export { anthropicProblem } from "./provider/anthropic-rules.ts";
export type { FakeProviderOptions } from "./provider/desk.ts";
export {
  deepseekProblem,
  gatewayProblem,
  localProblem,
  mistralProblem,
  openrouterProblem,
} from "./provider/dialect-rules.ts";
export { createFakeProvider, type FakeProvider } from "./provider/fake-provider.ts";
export type { EmittedDelta, Gate } from "./provider/gate.ts";
export { geminiProblem } from "./provider/gemini-rules.ts";
export type { FakeMessage, FakeToolCall, FakeToolResult } from "./provider/message-views.ts";
export { openaiProblem } from "./provider/openai-rules.ts";
export type { CallOutcome, RecordedCall } from "./provider/recorded-call.ts";
export type { FakeRequest } from "./provider/request-view.ts";
export { responsesProblem } from "./provider/responses-rules.ts";
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
export { recordedDataDir, WITHOUT_RECORDINGS } from "./recorded/data-dir.ts";
export { convertPiRecording, type RecordedLog, readPiRecording } from "./recorded/pi.ts";
export {
  asServerSentEvent,
  type RecordedStream,
  type Replay,
  recordedStreams,
  replayStreams,
  type StreamVendor,
} from "./recorded/streams.ts";
export { type WireProblem, wireProblemOf } from "./wire-problem.ts";
