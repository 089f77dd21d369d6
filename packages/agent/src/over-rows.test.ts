import type { StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { overRows } from "./over-rows.ts";
import { RowList } from "./testing/rows.ts";

const rowsOf = (count: number): readonly StoredRow[] => {
  const list = new RowList();
  for (let at = 0; at < count; at++) list.user(`u${at}`);
  return list.rows;
};

test("[AGENT-190] what is read of a log is what a reading of all its rows gives, whatever was read before", () => {
  const [one, other] = [rowsOf(30), rowsOf(30)];
  const asks = fc.array(fc.record({ fork: fc.nat(2), shared: fc.integer({ min: 1, max: 30 }), end: fc.nat(30) }));
  fc.assert(
    fc.property(asks, (list) => {
      const read = overRows<readonly number[]>([], (seqs, row) => [...seqs, row.seq]);
      for (const { fork, shared, end } of list) {
        const rows = fork === 0 ? [...one.slice(0, shared), ...other.slice(shared)].slice(0, end) : one.slice(0, end);
        expect(read(rows)).toEqual(rows.map(({ seq }) => seq));
      }
    }),
    { seed: 3 },
  );
});

test("[AGENT-190] a row is read once, also when the list is the same one and has grown", () => {
  let looks = 0;
  const read = overRows(0, (count) => {
    looks += 1;
    return count + 1;
  });
  const rows = [...rowsOf(20)];
  const growing = rows.slice(0, 5);
  for (const row of rows.slice(5)) {
    growing.push(row);
    read(growing);
  }
  expect([looks, read(growing)]).toEqual([20, 20]);
});
