import { diffWordsWithSpace } from "diff";
import type { DiffLine } from "./diff-lines.ts";

export interface Span {
  readonly text: string;
  readonly changed: boolean;
}

/** Beyond this many characters a pair of lines is shown without marks: comparing words costs the square. */
const LINE_CHARS_MAX = 400;
/** A pair of lines that shares less than this part of its text reads better without marks. */
const SHARED_MIN = 0.35;

/**
 * Marks the words that changed within a line. A removed line is compared with the added line at the same place of the
 * block that follows; lines without a partner are left whole.
 */
export function markWords(lines: readonly DiffLine[]): ReadonlyMap<number, readonly Span[]> {
  const marks = new Map<number, readonly Span[]>();
  let index = 0;
  while (index < lines.length) {
    const removedFrom = index;
    while (lines[index]?.kind === "removed") index++;
    const addedFrom = index;
    while (lines[index]?.kind === "added") index++;
    const pairs = Math.min(addedFrom - removedFrom, index - addedFrom);
    for (let k = 0; k < pairs; k++) markPair(marks, lines, { removed: removedFrom + k, added: addedFrom + k });
    if (index === removedFrom) index++;
  }
  return marks;
}

function markPair(
  marks: Map<number, readonly Span[]>,
  lines: readonly DiffLine[],
  at: { readonly removed: number; readonly added: number },
): void {
  const before = lines[at.removed]?.text ?? "";
  const after = lines[at.added]?.text ?? "";
  if (before.length > LINE_CHARS_MAX || after.length > LINE_CHARS_MAX) return;
  const changes = diffWordsWithSpace(before, after);
  const shared = changes.reduce((sum, change) => sum + (change.added || change.removed ? 0 : change.value.length), 0);
  if (shared < SHARED_MIN * Math.max(before.length, after.length)) return;
  const side = (other: "added" | "removed"): readonly Span[] =>
    changes
      .filter((change) => !change[other])
      .map((change) => ({ text: change.value, changed: change.added || change.removed }));
  marks.set(at.removed, side("added"));
  marks.set(at.added, side("removed"));
}
