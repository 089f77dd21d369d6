import type { LogChunk } from "@varve/protocol";

/** What became of a summary, as far as the rows in the window tell. Only the newest that holds can be undone. */
export function compactionState(rows: readonly LogChunk[], seq: number): "undone" | "under-newer" | "in-force" {
  const undone = new Set<number>();
  for (const { type, data } of rows) {
    if (type === "system" && data.kind === "compaction-undo") undone.add(data.compactionSeq);
  }
  if (undone.has(seq)) return "undone";
  const later = rows.some(
    (row) => row.seq > seq && row.type === "system" && row.data.kind === "compaction" && !undone.has(row.seq),
  );
  return later ? "under-newer" : "in-force";
}
