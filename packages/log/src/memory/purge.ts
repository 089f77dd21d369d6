import type { Fault, LogId, TabId } from "@varve/protocol";
import { notTrashed, unknownTab } from "../refusals.ts";
import type { MemoryState } from "./state.ts";

/** Removes a trashed tab, its messages, and every row that no log of a living tab reaches. */
export function purgeFromMemory(state: MemoryState, id: TabId): Fault | null {
  const tab = state.tabs.get(id);
  if (tab === undefined) return unknownTab(id);
  if (tab.trashedAt === null) return notTrashed(id);
  if (tab.parentId !== null) state.formerParents.set(id, tab.parentId);
  state.tabs.delete(id);
  for (const [childId, child] of state.tabs) {
    if (child.parentId !== id) continue;
    state.formerParents.set(childId, id);
    state.tabs.set(childId, { ...child, parentId: null });
  }
  for (const [messageId, record] of state.inbox) if (record.tabId === id) state.inbox.delete(messageId);
  for (const log of state.logs.values()) if (log.owner === id) log.owner = null;
  for (const [logId, log] of state.logs) if (log.owner === null) shrink(state, logId);
  return null;
}

function shrink(state: MemoryState, logId: LogId): void {
  const log = state.logs.get(logId);
  if (log === undefined) return;
  const living = [...state.logs.values()].filter((other) => other.owner !== null);
  const shared = living.flatMap((other) => other.segments.filter((segment) => segment.source === logId));
  if (shared.length === 0) state.logs.delete(logId);
  const sharedUpTo = shared.reduce((hi, segment) => Math.max(hi, segment.hi), 0);
  log.rows = log.rows.filter(({ row }) => row.seq <= sharedUpTo);
}
