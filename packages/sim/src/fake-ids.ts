import { type IdMaker, idMaker, uuidV7Maker } from "@varve/protocol";
import { createPrng } from "./prng.ts";

/** Texts `<prefix>-000001`, `<prefix>-000002` ...: what a golden test can read. */
export function countingIdTexts(prefix = "id"): () => string {
  let made = 0;
  return () => `${prefix}-${String(++made).padStart(6, "0")}`;
}

/** Ids of every kind from one counter. */
export function createFakeIds(prefix = "id"): IdMaker {
  return idMaker(countingIdTexts(prefix));
}

/** UUIDv7 ids as the product makes them, the same for the same seed and times. */
export function createSeededIds(seed: number, now: () => number): IdMaker {
  const prng = createPrng(seed);
  return idMaker(uuidV7Maker(now, (into) => prng.fill(into)));
}
