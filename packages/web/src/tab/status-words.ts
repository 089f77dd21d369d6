import type { TabStatus } from "@varve/protocol";

/** What goes on at the end of a tab; null when it is at rest. */
export function statusWords(status: TabStatus, now: number): string | null {
  if (status.fault) return "Writing is paused";
  if (status.retry) {
    const seconds = Math.max(0, Math.ceil((status.retry.at - now) / 1000));
    const when = seconds === 0 ? "now" : `in ${seconds} s`;
    return `${status.retry.reason} Attempt ${status.retry.attempt} comes ${when}.`;
  }
  if (status.state === "waiting")
    return status.waits.length > 1 ? `${status.waits.length} questions wait for you.` : "Waits for your answer.";
  return status.state === "running" ? "Working" : null;
}
