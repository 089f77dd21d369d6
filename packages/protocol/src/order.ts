/**
 * CONTRACT. The only orders there are. Rows of one log: by `seq`. Everything else: by stamp `(term, n)`.
 * Ids and clocks order nothing.
 */
export type Stamp = readonly [term: number, n: number];

export const zeroStamp: Stamp = [0, 0];

/** Negative when a is earlier, 0 when equal, positive when later. Total. */
export const compareStamps = (a: Stamp, b: Stamp): number => a[0] - b[0] || a[1] - b[1];
export const laterStamp = (a: Stamp, b: Stamp): Stamp => (compareStamps(a, b) >= 0 ? a : b);

export const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }): number => a.seq - b.seq;

interface Placed {
  readonly step: number;
  readonly index: number;
}
/** Open blocks stand behind the sealed rows, by step, then by the order in which they were opened. */
export const byPlace = (a: Placed, b: Placed): number => a.step - b.step || a.index - b.index;

/** Waiting messages stand in queue order. */
export const byPosition = (a: { readonly position: number }, b: { readonly position: number }): number =>
  a.position - b.position;
