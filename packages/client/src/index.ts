/** The core of a client: pure, without DOM, socket or clock. Adapters: `@varve/client/browser`, `@varve/client/node`. */
export type * from "./client.ts";
export { decodeError, decodeFrame, decodePage, parseJson } from "./decode.ts";
export { groupRows } from "./group.ts";
export { memoryOutbox } from "./outbox.ts";
export { createSyncClient } from "./sync-client.ts";
