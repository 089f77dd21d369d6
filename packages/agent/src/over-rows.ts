/**
 * A reading of a whole log that costs its new rows only. It answers what a reading from the first row would, whatever was
 * read before: a list goes on where another ended when it holds the same row there, for rows never change.
 */
import type { StoredRow } from "@varve/protocol";

interface Read<S> {
  readonly count: number;
  readonly last: StoredRow | undefined;
  readonly state: S;
}

/** `next` must not depend on anything else, nor change the state that it is given. */
export function overRows<S>(empty: S, next: (state: S, row: StoredRow) => S): (rows: readonly StoredRow[]) => S {
  const read = new WeakMap<StoredRow, Read<S>>();
  return (rows) => {
    const first = rows[0];
    if (first === undefined) return empty;
    const known = read.get(first);
    const goesOn = known !== undefined && known.count <= rows.length && rows[known.count - 1] === known.last;
    let state = goesOn ? known.state : empty;
    for (let at = goesOn ? known.count : 0; at < rows.length; at++) {
      const row = rows[at];
      if (row !== undefined) state = next(state, row);
    }
    read.set(first, { count: rows.length, last: rows.at(-1), state });
    return state;
  };
}
