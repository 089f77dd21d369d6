/** The public surface of the server: start one, or ask the one that runs. */
export type { LogLine } from "./log-line.ts";
export { type RunningElsewhere, type RunningServer, startServer } from "./main.ts";
export { osKeyRing } from "./os-key-ring.ts";
export { findRecordings, recordingPath } from "./recording/find.ts";
export { readBill } from "./recording/read-bill.ts";
export { askForLink, type Finding, findServer, type RunningAddress, type SignInLink } from "./running-server.ts";
export type { StartOptions } from "./start-options.ts";
