/** Faults of the world on their way to becoming values. */
import { FaultError } from "@varve/log";
import { type Fault, fault, isFault } from "@varve/protocol";

export const unknownTab = (): Fault =>
  fault("unknown-tab", "There is no such tab.", "It may have been purged; reload the list.");

export const faultIn = (outcome: unknown): Fault | null => (isFault(outcome) ? outcome : null);

/** One tab that cannot be read keeps no other from its recovery. */
export const unreadable = (error: unknown): Fault =>
  error instanceof FaultError
    ? error.fault
    : fault("internal", error instanceof Error ? error.message : String(error), "The tab is left as it was found.");

/** Reads of the log that leave no room for a fault in their answer reject with it: here it becomes a value again. */
export async function readable<T>(read: () => Promise<T>): Promise<T | Fault> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FaultError) return error.fault;
    throw error;
  }
}
