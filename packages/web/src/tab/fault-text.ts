import type { TabStatus } from "@varve/protocol";

/** What a pause in writing means for the person: what was kept, and what to do. */
export function faultText(fault: NonNullable<TabStatus["fault"]>): string {
  const way =
    fault.code === "disk-full"
      ? "Free some space on the disk of the server: it goes on by itself."
      : "It is tried again by itself.";
  return `Writing is paused: ${fault.message} What is on screen is kept in memory until it is written. ${way}`;
}
