/** The agent's public surface: what runs a turn, the model port, the tools and their permissions. */
export type { AfterTurn, WaitingMessage } from "./drain.ts";
export { afterTurn, atRest, steersToDrain, userRow } from "./drain.ts";
export type { TurnLimits } from "./limits.ts";
export { turnLimits } from "./limits.ts";
export { runTurn } from "./loop.ts";
export type { KnownCredential, ModelFailure, ModelPart, ModelRegistry, ResolvedModel } from "./model/model.ts";
export type { RegistryOptions } from "./model/registry.ts";
export { createModelRegistry } from "./model/registry.ts";
export type { TurnOwner } from "./owner.ts";
export { OwnerGone } from "./owner.ts";
export type { Decide, Decision, PermissionContext, PermissionRule } from "./permission/decide-contract.ts";
export type { TurnPorts } from "./ports.ts";
export type { ContextOperations, TabContext } from "./prompt/context.ts";
export { rowsBeforeTurn } from "./prompt/context.ts";
export type { RecoverInput, Recovery } from "./recover.ts";
export { recover } from "./recover.ts";
export type { PreparedCall, Tool, ToolBox, ToolOutcome, ToolPlace } from "./tools/tool.ts";
