import fc from "fast-check";
import { expect, test } from "vitest";
import { byPlace, byPosition, bySeq, compareStamps, laterStamp, type Stamp, zeroStamp } from "./order.ts";

const stamp: fc.Arbitrary<Stamp> = fc.tuple(fc.nat(3), fc.nat(3));

test("[ORDER-1] stamps are ordered totally, by term, then by n", () => {
  fc.assert(
    fc.property(stamp, stamp, stamp, (a, b, c) => {
      expect(Math.sign(compareStamps(a, b))).toBe(-Math.sign(compareStamps(b, a)) + 0);
      expect(compareStamps(a, b) === 0).toBe(a[0] === b[0] && a[1] === b[1]);
      if (compareStamps(a, b) <= 0 && compareStamps(b, c) <= 0) expect(compareStamps(a, c)).toBeLessThanOrEqual(0);
      expect(compareStamps(laterStamp(a, b), a)).toBeGreaterThanOrEqual(0);
      expect(compareStamps(laterStamp(a, b), b)).toBeGreaterThanOrEqual(0);
      expect(compareStamps(zeroStamp, a)).toBeLessThanOrEqual(0);
    }),
  );
  expect(compareStamps([1, 9], [2, 0])).toBeLessThan(0);
});
test("[ORDER-2] rows by seq, open blocks by step and opening, messages by position", () => {
  const seqs = [{ seq: 10 }, { seq: 9 }, { seq: 100 }];
  expect(seqs.sort(bySeq).map(({ seq }) => seq)).toEqual([9, 10, 100]);
  const blocks = [
    { step: 2, index: 0 },
    { step: 1, index: 10 },
    { step: 1, index: 9 },
  ];
  expect(blocks.sort(byPlace)).toEqual([
    { step: 1, index: 9 },
    { step: 1, index: 10 },
    { step: 2, index: 0 },
  ]);
  const places = [{ position: 2 }, { position: 1.5 }, { position: -1 }];
  expect(places.sort(byPosition).map(({ position }) => position)).toEqual([-1, 1.5, 2]);
});
