/** The heavy surface: zod schemas, for servers and tests. Browsers import `@varve/protocol`, which carries types only. */
export * from "./chunk.ts";
export * from "./command.ts";
export * from "./frame.ts";
export * from "./op.ts";
export * from "./rest.ts";
export * from "./rest-ledger.ts";
export * from "./rest-permission.ts";
