import type { Log } from "@varve/log";
import { type Fault, isFault, type StoredRow, type TabStatus } from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";

/** A turn's end is its last row; what may stand behind it are the few rows that begin no turn. */
const rowsLookedAt = 20;

/** Shows how the newest turn ended, as it was shown before the server was started anew. */
export async function showLastEnd(log: Log, core: TabCore): Promise<Fault | null> {
  const page = await log.page({ logId: core.fence.logId, before: core.tail + 1, limit: rowsLookedAt });
  if (isFault(page)) return page;
  const end = endOf(page.rows);
  if (end !== null) core.status(end);
  return null;
}

function endOf(rows: readonly StoredRow[]): Pick<TabStatus, "state" | "lastSealed"> | null {
  const last = rows.findLast((row) => row.turnId !== "");
  if (last?.type !== "system" || last.data.kind !== "turn-end") return null;
  return { state: last.data.reason === "error" ? "error" : "idle", lastSealed: last.turnId };
}
