import type { TabRecord } from "@varve/protocol";

/** What the dot of a tab says. One tab has one mark: what needs the person comes first. */
export type TabMark = "needs-you" | "running" | "failed" | "unseen" | "quiet";

export function tabMark(tab: TabRecord, active: boolean): TabMark {
  if (tab.state === "waiting" || tab.waits > 0) return "needs-you";
  if (tab.state === "running") return "running";
  if (tab.state === "error") return "failed";
  return tab.tail > tab.seen && !active ? "unseen" : "quiet";
}

export const markText: Readonly<Record<TabMark, string>> = {
  "needs-you": "needs you",
  running: "running",
  failed: "failed",
  unseen: "done, not seen",
  quiet: "",
};

export const lastPart = (path: string): string => path.split("/").filter(Boolean).at(-1) ?? path;
