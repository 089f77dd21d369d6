/** The agent's public surface: what runs a turn, the model port, the tools and their permissions. */
export { type Assembled, type AssembleState, assemble, startStep } from "./assemble.ts";
export { type Compacted, type CompactWish, compactTab } from "./compaction/compact-tab.ts";
export { measure, rowTokens, scaleFrom, scaleOf } from "./compaction/measure.ts";
export { type Plan, type PlanInput, planCompaction } from "./compaction/plan.ts";
export { summaryBodies } from "./compaction/summary-bodies.ts";
export { summaryAsks } from "./compaction/texts.ts";
export type { AfterTurn, WaitingMessage } from "./drain.ts";
export { afterTurn, atRest, steersToDrain, userRow } from "./drain.ts";
export { type Booking, bookUsage } from "./ledger/book.ts";
export { type BreakEven, breakEven } from "./ledger/break-even.ts";
export { type Chain, chainAt, type Link, logUpTo } from "./ledger/chain.ts";
export { calibrated, estimateTokens } from "./ledger/estimate.ts";
export {
  causePriceOf,
  type InputFigures,
  inputPriceOf,
  paidAgain,
  priceOf,
  ratesFor,
  savedOf,
  type TokenFigures,
  totalInput,
} from "./ledger/price.ts";
export { attainableOf, roundingOf, type ShortfallInput, shortfallOf } from "./ledger/shortfall.ts";
export { addSums, addUsage, emptySum, sumOfBill } from "./ledger/sums.ts";
export type { TurnLimits } from "./limits.ts";
export { turnLimits } from "./limits.ts";
export { runTurn } from "./loop.ts";
export { demoFacts, demoInfo } from "./model/demo-model.ts";
export type { CacheFacts, ModelFacts, ModelPrices, PriceOverrides, Rates } from "./model/facts.ts";
export { unknownFacts } from "./model/facts.ts";
export { type FactsOptions, factsOf } from "./model/facts-of.ts";
export type { KnownCredential, ModelFailure, ModelPart, ModelRegistry, ResolvedModel } from "./model/model.ts";
export type { RegistryOptions } from "./model/registry.ts";
export { createModelRegistry } from "./model/registry.ts";
export type { RunningTool, TurnOwner } from "./owner.ts";
export { OwnerGone } from "./owner.ts";
export { decide } from "./permission/decide.ts";
export type { Decide, Decision, PermissionContext, PermissionRule } from "./permission/decide-contract.ts";
export { type Grant, grantedFrom, grantedRules, grantsFrom } from "./permission/granted.ts";
export { ruleFileReader } from "./permission/rule-file.ts";
export type { LoadedRules, RuleFile, RulePlaces } from "./permission/rules.ts";
export { allowedRule, loadRules, parseRules, permissionLimits, ruleWords } from "./permission/rules.ts";
export { readCommand } from "./permission/shell/read-command.ts";
export type { Spending, Spent, TurnPorts } from "./ports.ts";
export type { ContextChange } from "./prompt/changes.ts";
export { contextChanges } from "./prompt/changes.ts";
export type { TabContext } from "./prompt/context.ts";
export {
  freshPrefix,
  modelIfChanged,
  noteIfChanged,
  openingRows,
  rebuildRows,
  rowsBeforeTurn,
  tellRows,
} from "./prompt/context.ts";
export { nodeContextOperations } from "./prompt/node-operations.ts";
export type { ContextOperations, RepositoryFacts } from "./prompt/operations.ts";
export { systemPrompt } from "./prompt/system-prompt.ts";
export { instructionsTopic, prefixInForce, toldTexts } from "./prompt/told.ts";
export type { RecoverInput, Recovery } from "./recover.ts";
export { recover } from "./recover.ts";
export { modelInForce, parseEffort } from "./request.ts";
export { parseHostRule } from "./sandbox/host-list.ts";
export { cleanContext } from "./secrets/clean-context.ts";
export { cleanRow, cleanText } from "./secrets/clean-row.ts";
export { hiddenNamePattern, hiddenValues } from "./secrets/hidden-names.ts";
export { KnownSecrets, noSecrets, type Secrets } from "./secrets/known-secrets.ts";
export type { ToolBoxOptions } from "./tools/context.ts";
export { type FittedImage, fitImage } from "./tools/image.ts";
export type { ImageOperations } from "./tools/image-operations.ts";
export type { NodeOperationsOptions } from "./tools/node-operations.ts";
export { nodeClock, nodeOperations } from "./tools/node-operations.ts";
export { commandShell } from "./tools/node-processes.ts";
export type { SandboxFound, SandboxOperations, ToolOperations } from "./tools/operations.ts";
export { privateHostPattern } from "./tools/private-hosts.ts";
export type { PreparedCall, Tool, ToolBox, ToolOutcome, ToolPlace, ToolRun } from "./tools/tool.ts";
export { createToolBox, endOrphans } from "./tools/toolbox.ts";
export { openQuestions, owesResult, rowsOfTurn, unansweredCalls } from "./turn-rows.ts";
export { type UsageData, usageData } from "./usage.ts";
export { pause } from "./wait.ts";
