/**
 * Seeded randomness: sfc32, a small chaotic generator with 128 bits of state of which 32 are a counter, so that its
 * period is at least 2^32 from any seed. It passes the usual statistical batteries; it is no source of secrets.
 * The seed is spread over the state by a multiplicative mixer, then the first outputs are thrown away, so that
 * neighbouring seeds give unrelated runs.
 */
export interface Prng {
  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number;
  /** From 0 (included) to 1 (excluded), with 53 random bits. */
  float(): number;
  /** A whole number from `min` to `max`, both included, each as likely as the other. */
  int(min: number, max: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One element of a list that has at least one. */
  pick<T>(list: readonly [T, ...(readonly T[])]): T;
  /** A new list in random order. */
  shuffle<T>(list: readonly T[]): readonly T[];
  fill(into: Uint8Array): void;
  /** An independent generator, so that one consumer's draws do not shift another's. */
  fork(): Prng;
}

const WARM_UP = 15;
const TWO_32 = 0x1_0000_0000;

export function createPrng(seed: number): Prng {
  const mix = mixer(seed);
  return fromState(mix(), mix(), mix(), 1);
}

function fromState(a0: number, b0: number, c0: number, counter0: number): Prng {
  let [a, b, c, counter] = [a0 | 0, b0 | 0, c0 | 0, counter0 | 0];
  const uint32 = (): number => {
    const out = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  for (let turn = 0; turn < WARM_UP; turn += 1) uint32();
  const float = (): number => ((uint32() >>> 5) * 0x400_0000 + (uint32() >>> 6)) / 0x20_0000_0000_0000;
  const int = (min: number, max: number): number => {
    const span = max - min + 1;
    // Draws beyond the last whole multiple of the span would favour small results.
    const limit = TWO_32 - (TWO_32 % span);
    for (;;) {
      const draw = uint32();
      if (draw < limit) return min + (draw % span);
    }
  };
  return {
    uint32,
    float,
    int,
    chance: (probability) => float() < probability,
    pick: (list) => list[int(0, list.length - 1)] ?? list[0],
    shuffle(list) {
      const rest = [...list];
      return list.flatMap(() => rest.splice(int(0, rest.length - 1), 1));
    },
    fill(into) {
      for (let at = 0; at < into.length; at += 1) into[at] = uint32() & 0xff;
    },
    fork: () => createPrng(uint32()),
  };
}

/** Turns one number into a row of well spread 32-bit words. */
function mixer(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = state ^ (state >>> 16);
    word = Math.imul(word, 0x21f0aaad);
    word ^= word >>> 15;
    word = Math.imul(word, 0x735a2d97);
    return word ^ (word >>> 15);
  };
}
