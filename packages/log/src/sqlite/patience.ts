/**
 * Another program may hold the database's write lock for a while: a backup, a browser of databases. That is no answer for
 * anybody: the write is tried again until the lock is free. The event loop goes on meanwhile, as reads do.
 */
import type { Clock } from "@varve/protocol";
import { isBusyFault } from "./sqlite-fault.ts";

/** Wait before the first further attempt; it doubles up to the second. In ms. */
const busyRetryMs = 25;
const busyRetryMaxMs = 500;
/** After so long the write fails as from any other fault of the disk, and whoever wanted it tries again or says why. */
export const busyWaitMs = 60_000;

/** `attempt` answers with a busy fault, or an outcome that holds one, only when it has written nothing. */
export async function patiently<T>(clock: Clock, attempt: () => T): Promise<T> {
  for (let waited = 0, wait = busyRetryMs; ; wait = Math.min(wait * 2, busyRetryMaxMs)) {
    const outcome = attempt();
    if (!isBusy(outcome) || waited >= busyWaitMs) return outcome;
    await new Promise<void>((resolve) => void clock.setTimer(wait, resolve));
    waited += wait;
  }
}

const isBusy = (outcome: unknown): boolean =>
  isBusyFault(outcome) ||
  (typeof outcome === "object" && outcome !== null && "fault" in outcome && isBusyFault(outcome.fault));
