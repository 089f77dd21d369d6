import type { Fault, LogId, TabId } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { notTrashed, unknownTab } from "../refusals.ts";
import { logIdIn } from "./decode.ts";
import type { Store } from "./store.ts";
import { readTab } from "./tabs.ts";
import { kept, undone } from "./transaction.ts";

/**
 * Removes a trashed tab, its messages, and every row that no log of a living tab reaches. Rows that another tab's fork
 * shares stay, and are removed when the last such fork is purged.
 */
export function purgeTab(store: Store, id: TabId): Fault | null {
  const result = store.transactions.write<Fault | null>(() => {
    const tab = readTab(store, id);
    if (tab === null) return undone(unknownTab(id));
    if (tab.trashedAt === null) return undone(notTrashed(id));
    const { sql } = store;
    sql.startPurge.run();
    sql.deleteMessages.run(id);
    sql.deleteTabLogs.run(id);
    sql.keepParents.run(id);
    sql.deleteTab.run(id);
    for (const dead of sql.deadLogs.all()) shrinkLog(store, logIdIn(dead, "id"));
    sql.endPurge.run();
    return kept(null);
  });
  if (!isFault(result)) store.forgetSegments();
  return result;
}

/** Of a log that no tab reaches, what living forks of it share is left. */
function shrinkLog(store: Store, logId: LogId): void {
  const { sql } = store;
  const hi = sql.sharedUpTo.get(logId)?.hi;
  const sharedUpTo = hi === null || hi === undefined ? 0 : Number(hi);
  sql.deleteRowsAfter.run(logId, sharedUpTo);
  if (sharedUpTo > 0) return;
  sql.deleteSegments.run(logId);
  sql.deleteLog.run(logId);
}
