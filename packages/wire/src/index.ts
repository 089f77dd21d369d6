/** The public surface of the wire: what the model sees. Pure; the only thing from Node is hashing. */
export type { Alarm, AlarmCode } from "./alarm.ts";
export { type BlobLookup, neededBlobs, type ResolvedBlob } from "./blobs.ts";
export { applyBreakpoints, breakpointsMax, type CacheTtl, placeBreakpoints } from "./breakpoints.ts";
export { argumentsDepthMax, type ParsedArguments, parseArguments } from "./call-arguments.ts";
export { type CanonicalBlock, canonicalBlocks, chainOf, fingerprint } from "./canonical.ts";
export { chooseProfile, type WireDialect } from "./choose-profile.ts";
export { chunksToModelMessages, type Fold, type FoldOptions, foldVersion } from "./fold.ts";
export { foldAt, rowsOfRequest } from "./fold-at.ts";
export { buildRequest, createFolder, type Folder } from "./folder.ts";
export { type GuardVerdict, guardPrefix, type PreviousRequest, previousRequest } from "./guard.ts";
export type { ModelMessage } from "./model-message.ts";
export { isIntactPrefix, makePrefixData, type PrefixSource, prefixHash } from "./prefix.ts";
export {
  type ConstantsName,
  modelScopeOf,
  type Profile,
  type ProfileName,
  targetUnder,
  type WireTarget,
  wireTarget,
} from "./profile.ts";
export { anthropic } from "./profiles/anthropic.ts";
export { deepseek, deepseekLegacy, deepseekV4, deepseekVision } from "./profiles/deepseek.ts";
export { google, googleLegacy } from "./profiles/google.ts";
export { local } from "./profiles/local.ts";
export { mistral } from "./profiles/mistral.ts";
export { openaiChat, openaiChatPlain } from "./profiles/openai-chat.ts";
export { openaiCompatible } from "./profiles/openai-compatible.ts";
export { openaiResponses, openaiResponsesPlain } from "./profiles/openai-responses.ts";
export { openrouter } from "./profiles/openrouter.ts";
export type { Anchor } from "./render.ts";
export type { RequestInput, WireRequest } from "./request.ts";
export {
  type CacheLifetimes,
  cacheLifetimes,
  type RequestOptions,
  requestOptions,
  scopeHashOf,
} from "./request-options.ts";
export { type SentBlock, sentBlocks } from "./sent-blocks.ts";
export { texts } from "./texts.ts";
export { type Violation, type ViolationCode, validateMessages } from "./validate.ts";
