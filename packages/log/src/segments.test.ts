import type { LogId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countingIds } from "./contract/fixtures.ts";
import { childSegments, rootSegments, type Segment, segmentsMax, segmentsWithin } from "./segments.ts";

const ids = countingIds();
/** What a log reads at a seq. */
const sourceAt = (segments: readonly Segment[], seq: number): LogId | undefined =>
  segments.find(({ lo, hi }) => lo <= seq && seq <= hi)?.source;
const seqs = Array.from({ length: 30 }, (_, at) => at + 1);

describe("segments", () => {
  test("[LOG-12] a child reads as its parent up to the fork, and as itself from there", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(25), { maxLength: 12 }), (forks) => {
        let parent = rootSegments(ids.log());
        for (const parentSeq of forks) {
          const child = ids.log();
          const segments = childSegments(parent, child, parentSeq) ?? [];
          for (const seq of seqs) expect(sourceAt(segments, seq)).toBe(seq > parentSeq ? child : sourceAt(parent, seq));
          expect(segments[0]?.lo).toBe(1);
          for (const [at, segment] of segments.entries()) expect(segments[at + 1]?.lo ?? Infinity).toBe(segment.hi + 1);
          parent = segments;
        }
      }),
    );
  });

  test("[LOG-10] the parts within a range cover exactly that range", () => {
    const range = fc.record({
      forks: fc.array(fc.nat(25), { maxLength: 8 }),
      lo: fc.integer({ min: 1, max: 30 }),
      hi: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(range, ({ forks, lo, hi }) => {
        const segments = forks.reduce<readonly Segment[]>(
          (parent, at) => childSegments(parent, ids.log(), at) ?? [],
          rootSegments(ids.log()),
        );
        const within = segmentsWithin(segments, lo, hi);
        const covered = within.flatMap((part) =>
          seqs.filter((seq) => part.lo <= seq && seq <= part.hi).map((seq) => [seq, part.source]),
        );
        expect(covered).toEqual(
          seqs.filter((seq) => lo <= seq && seq <= hi).map((seq) => [seq, sourceAt(segments, seq)]),
        );
      }),
    );
  });

  test("[LOG-15] a chain ends at the limit, and forks at one point never come near it", () => {
    let deep = rootSegments(ids.log());
    for (let level = 1; level < segmentsMax; level++) deep = childSegments(deep, ids.log(), level) ?? [];
    expect(deep.length).toBe(segmentsMax);
    expect(childSegments(deep, ids.log(), segmentsMax)).toBeNull();
    expect(childSegments(deep, ids.log(), 5)?.length).toBe(6);
    let flat = rootSegments(ids.log());
    for (let again = 0; again < segmentsMax * 2; again++) flat = childSegments(flat, ids.log(), 3) ?? [];
    expect(flat.length).toBe(2);
  });
});
