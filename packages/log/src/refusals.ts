import type { ChunkId, Fault, LogId, TabId } from "@varve/protocol";
import { fault, limits } from "@varve/protocol";

/** The sentences of every refusal, in one place, so that each implementation says the same. */
export const idTaken = (id: ChunkId): Fault =>
  fault("id-taken", `The id ${id} is in use already.`, "Nothing was written. Send it again under a fresh id.");

export const tabIdTaken = (id: TabId): Fault =>
  fault("id-taken", `There is a tab with the id ${id} already.`, "Nothing was made. Choose another id.");

export const logIdTaken = (id: LogId): Fault =>
  fault("id-taken", `There is a log with the id ${id} already.`, "Nothing was made. Choose another id.");

export const secondResult = (callId: string): Fault =>
  fault("result-already-sealed", `The tool call ${callId} has its result already.`, "The first result stands.");

export const lateResult = (callId: string): Fault =>
  fault(
    "result-already-sealed",
    `The log has gone on since the tool call ${callId}; its result comes too late.`,
    "What the model was told about this call stands.",
  );

export const staleVersion = (id: ChunkId): Fault =>
  fault(
    "stale-version",
    `The message ${id} has changed or was sent meanwhile.`,
    "Look at it as it is now, then decide.",
  );

export const unknownMessage = (id: ChunkId): Fault =>
  fault("unknown-message", `No message ${id} is waiting in this tab.`, "It was sent or removed, or never was here.");

export const queueFull = (): Fault =>
  fault(
    "queue-full",
    `${limits.queueMax} messages are waiting in this tab already.`,
    "Nothing was lost. Send this one when some of them are through.",
  );

export const unknownTab = (id: TabId): Fault => fault("unknown-tab", `There is no tab ${id}.`);
export const unknownLog = (id: LogId): Fault => fault("unknown-log", `There is no log ${id}.`);
export const foreignLog = (id: LogId): Fault =>
  fault("unknown-log", `The log ${id} is not an earlier log of this tab.`, "Choose one from the tab's list of logs.");

export const beyondTail = (id: LogId, seq: number): Fault =>
  fault("bad-cursor", `The log ${id} has no row ${seq} to go on from.`);

export const chainTooDeep = (max: number): Fault =>
  fault(
    "bad-request",
    `This log was forked ${max} times in a row, which is as deep as it goes.`,
    "Go on in this log, or start a fresh one.",
  );

export const notTrashed = (id: TabId): Fault =>
  fault("bad-request", `The tab ${id} is not in the trash.`, "Nothing was removed. Move it to the trash first.");

export const fencedOut = (): Fault =>
  fault("log-fenced", "Somebody else writes this tab now.", "Nothing was written. Stop, and read the tab anew.");
