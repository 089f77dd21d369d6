/** Why an act on a tab is not done, in words. */
import type { CommitOutcome } from "@varve/log";
import { type ChunkId, type Fault, fault, type QueuedMessage } from "@varve/protocol";
import type { QueueFault } from "./workspace-contract.ts";

export function outcomeFault(outcome: Exclude<CommitOutcome, { kind: "committed" }>): Fault {
  if (outcome.kind !== "fenced") return outcome.fault;
  return fault("log-fenced", "Another process took this tab over.", "Nothing was written; reload the page.");
}

export function withCurrent(
  outcome: Exclude<CommitOutcome, { kind: "committed" }>,
  current: QueuedMessage,
): QueueFault {
  return { ...outcomeFault(outcome), current };
}

export const trashed = (): Fault =>
  fault("tab-trashed", "This tab is in the trash.", "Restore it to go on; nothing was sent.");
export const closing = (): Fault => fault("shutting-down", "The server is closing.", "Send it again when it is back.");
export const notWaiting = (id: ChunkId): Fault =>
  fault("unknown-message", `No message ${id} waits in this tab.`, "It may have been sent or removed already.");
