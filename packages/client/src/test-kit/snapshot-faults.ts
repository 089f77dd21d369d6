import type { ChunkId, LogChunk } from "@varve/protocol";
import type { TabSnapshot } from "../client.ts";
import type { TabView } from "../tab-view.ts";

/** What a snapshot must keep at any time: each id in one place, rows dense and ascending, the outbox all shown. */
export function snapshotFaults(view: TabView, snapshot: TabSnapshot): readonly string[] {
  const faults: string[] = [];
  const places = new Map<ChunkId, string>();
  const put = (place: string) => (entry: { readonly id: ChunkId }) => {
    const other = places.get(entry.id);
    if (other !== undefined) faults.push(`${entry.id} is in ${other} and in ${place}`);
    places.set(entry.id, place);
  };
  snapshot.rows.forEach(put("rows"));
  snapshot.open.forEach(put("open"));
  snapshot.queue.forEach(put("queue"));
  snapshot.pending.forEach(put("pending"));
  snapshot.rows.forEach((row: LogChunk, i) => {
    if (i > 0 && row.seq !== (snapshot.rows[i - 1]?.seq ?? 0) + 1) faults.push(`a hole before seq ${row.seq}`);
  });
  for (const entry of view.outbox.pending)
    if (!places.has(entry.id)) faults.push(`own message ${entry.id} is not shown`);
  if (snapshot.window.hi > snapshot.window.tail) faults.push("the window ends beyond the tail");
  return faults;
}
