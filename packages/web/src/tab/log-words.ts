import type { LogEntry } from "../api/api.ts";

/** How long a version is, and how much of it came from the one before. */
export function logWords({ tail, parentId, parentSeq }: Pick<LogEntry, "tail" | "parentId" | "parentSeq">): string {
  const rows = tail === 1 ? "1 row" : `${tail.toLocaleString()} rows`;
  if (parentId === null || parentSeq === 0) return rows;
  return `${rows}, the first ${parentSeq.toLocaleString()} shared with the version it came from`;
}
