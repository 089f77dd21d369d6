import { parseTabId } from "@varve/protocol";
import { expect, test } from "vitest";
import { known, RowWriter } from "../dev/fake-rows.ts";
import { compactionState } from "./compaction-state.ts";

/** `c`: a summary, `u1`: the one at row 1 is undone. */
function rowsOf(...acts: readonly string[]) {
  const writer = new RowWriter(known(parseTabId("t")), 0);
  for (const act of acts) {
    writer.system(
      act === "c"
        ? { kind: "compaction", summary: "s", keepFrom: 1, keptUserSeqs: [] }
        : { kind: "compaction-undo", compactionSeq: Number(act.slice(1)) },
      {},
    );
  }
  return writer.rows;
}

test.each([
  [["c"], ["in-force"]],
  [["c", "u1"], ["undone"]],
  [
    ["c", "c"],
    ["under-newer", "in-force"],
  ],
  [
    ["c", "c", "u2"],
    ["in-force", "undone"],
  ],
  [
    ["c", "c", "u2", "u1"],
    ["undone", "undone"],
  ],
])("of summaries and undos %j the newest that holds can be undone", (acts, states) => {
  const rows = rowsOf(...acts);
  const seqs = rows.flatMap(({ seq }, at) => (acts[at] === "c" ? [seq] : []));
  expect(seqs.map((seq) => compactionState(rows, seq))).toEqual(states);
});
