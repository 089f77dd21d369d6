/**
 * The few rows of a log that say what the model is given beside its work, found in one pass: logs are long, and these are
 * asked for again and again.
 */
import type { StoredRow } from "@varve/protocol";
import type { SystemRow } from "./turn-rows.ts";
import { isKind } from "./turn-rows.ts";

export interface Landmarks {
  /** Each ascending. */
  readonly prefixes: readonly SystemRow<"prefix">[];
  readonly notes: readonly SystemRow<"note">[];
  readonly compactions: readonly SystemRow<"compaction">[];
  readonly undone: ReadonlySet<number>;
}

class Finder implements Landmarks {
  readonly prefixes: SystemRow<"prefix">[] = [];
  readonly notes: SystemRow<"note">[] = [];
  readonly compactions: SystemRow<"compaction">[] = [];
  readonly undone = new Set<number>();
  #count = 0;
  #last: StoredRow | undefined;

  /** Whether these rows are those of before, with more behind them. */
  fits(rows: readonly StoredRow[]): boolean {
    return this.#count === 0 || (rows.length >= this.#count && rows[this.#count - 1] === this.#last);
  }

  read(rows: readonly StoredRow[]): this {
    for (; this.#count < rows.length; this.#count++) {
      const row = rows[this.#count];
      if (row?.type !== "system") continue;
      if (isKind(row, "note")) this.notes.push(row);
      else if (isKind(row, "prefix")) this.prefixes.push(row);
      else if (isKind(row, "compaction")) this.compactions.push(row);
      else if (isKind(row, "compaction-undo")) this.undone.add(row.data.compactionSeq);
    }
    this.#last = rows.at(-1);
    return this;
  }
}

/** By the list itself, which only ever grows. */
const known = new WeakMap<readonly StoredRow[], Finder>();

/** Of a list that was asked about before, only what was added is looked at. */
export function landmarksOf(rows: readonly StoredRow[]): Landmarks {
  const before = known.get(rows);
  if (before?.fits(rows) === true) return before.read(rows);
  const finder = new Finder().read(rows);
  known.set(rows, finder);
  return finder;
}
