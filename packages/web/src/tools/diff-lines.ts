/** A unified diff as lines to show. Word-level marks within changed lines come from `word-diff.ts`. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly text: string;
  /** Line numbers in the old and the new file; null where the line is not in it. */
  readonly before: number | null;
  readonly after: number | null;
}

export const DIFF_LINES_MAX = 2000;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Lines past `DIFF_LINES_MAX` are left out; `clipped` says how many. */
export function diffLines(diff: string): { readonly lines: readonly DiffLine[]; readonly clipped: number } {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  for (const line of diff.split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (inHunk) lines.push({ kind: "gap", text: "", before: null, after: null });
      inHunk = true;
    } else if (inHunk && line.startsWith("+")) {
      lines.push({ kind: "added", text: line.slice(1), before: null, after: after++ });
    } else if (inHunk && line.startsWith("-")) {
      lines.push({ kind: "removed", text: line.slice(1), before: before++, after: null });
    } else if (inHunk && line.startsWith(" ")) {
      lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return { lines: lines.slice(0, DIFF_LINES_MAX), clipped: Math.max(0, lines.length - DIFF_LINES_MAX) };
}
