/** The light surface of the protocol: types and pure functions, browser-safe, without zod. */
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
export { AssertionFault, assert, unreachable } from "./unreachable.ts";
export { protocolVersion, protocolVersions } from "./version.ts";
