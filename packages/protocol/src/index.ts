/** The light surface of the protocol: types and pure functions, browser-safe, without zod. */
export {
  type ApplyOptions,
  type ApplyOutcome,
  applyHead,
  applyOp,
  applyOps,
  applyRows,
  type HeadOptions,
  isStamped,
  namedId,
  type ResubReason,
} from "./apply.ts";
export type * from "./chunk.ts";
export type { Clock, Timer } from "./clock.ts";
export type * from "./command.ts";
export * from "./error.ts";
export type * from "./frame.ts";
export * from "./ids.ts";
export type { Json, JsonObject } from "./json.ts";
export { limits } from "./limits.ts";
export type * from "./op.ts";
export * from "./order.ts";
export type * from "./rest.ts";
export type * from "./rest-ledger.ts";
export type * from "./rest-permission.ts";
export {
  type DroppedCell,
  joinRows,
  type OpenCell,
  type OpenedBlock,
  type PendingCell,
  type QueuedCell,
  type RowCell,
  type RowState,
  rowRank,
  type SealedCell,
} from "./row.ts";
export { cellOf, emptyTabState, forgetRows, idleStatus, type LiveOutputState, type TabState } from "./tab-state.ts";
export { digestLine, digestText, toTravelling, toTravellingWhole } from "./travel.ts";
export { AssertionFault, assert, unreachable } from "./unreachable.ts";
export { protocolVersion, protocolVersions } from "./version.ts";
