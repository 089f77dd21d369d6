import type { TabEntry } from "@varve/log";
import type { Effort, PermissionMode, TabRecord } from "@varve/protocol";
import type { Ledger } from "../ledger/ledger.ts";
import type { TabCore } from "./tab-core.ts";
import { optionsOf } from "./tab-options.ts";

export type RecordLedger = Pick<Ledger, "costOf" | "cacheUntil">;

const modes: readonly PermissionMode[] = ["read", "ask", "edits", "allow"];
const efforts: readonly Effort[] = ["default", "low", "medium", "high"];

/** A stored word that this build does not know counts as the safest one. */
export const modeOf = (text: string): PermissionMode => modes.find((mode) => mode === text) ?? "ask";
export const effortOf = (text: string): Effort => efforts.find((effort) => effort === text) ?? "default";

/** A tab as lists show it. Without a core (nobody has opened it since the start) it is at rest. */
export function tabRecord(entry: TabEntry, core: TabCore | undefined, ledger: RecordLedger): TabRecord {
  const logId = core?.fence.logId ?? entry.logId;
  const { id, title, cwd, model, parentId, seen, createdAt, updatedAt, trashedAt } = entry;
  const shared = { id, title, cwd, model, parentId, seen, createdAt, updatedAt, trashedAt };
  const chosen = {
    effort: effortOf(entry.effort),
    permissions: modeOf(entry.permissions),
    options: optionsOf(entry.options),
    cost: ledger.costOf(id),
    cacheUntil: ledger.cacheUntil(id, logId),
  };
  if (core === undefined) {
    return { ...shared, ...chosen, logId, tail: entry.tail, state: "idle", waits: 0, queued: 0 };
  }
  const { status, queueLength } = core.feed;
  const live = { state: status.state, waits: status.waits.length, queued: queueLength };
  return { ...shared, ...chosen, logId, tail: core.tail, ...live };
}
