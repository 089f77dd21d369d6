/**
 * SHA-256 (FIPS 180-4) in plain script: a page that was opened by plain http has no `crypto.subtle`, and a digest must say
 * the same there. Fed in pieces, so that nobody needs all of the text in one string.
 */

const blockBytes = 64;

/** The first 32 bits of the fractional parts of the roots of the first primes: cube roots of 64, square roots of 8. */
function fractions(count: number, root: (value: number) => number): Uint32Array {
  const words = new Uint32Array(count);
  for (let candidate = 2, found = 0; found < count; candidate++) {
    if (!isPrime(candidate)) continue;
    const value = root(candidate);
    words[found] = (value - Math.floor(value)) * 2 ** 32;
    found += 1;
  }
  return words;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) return false;
  return true;
}

const constants = fractions(64, Math.cbrt);
const initial = fractions(8, Math.sqrt);

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

export class Sha256 {
  readonly #state = Uint32Array.from(initial);
  readonly #schedule = new Uint32Array(64);
  readonly #block = new Uint8Array(blockBytes);
  readonly #view = new DataView(this.#block.buffer);
  readonly #encoder = new TextEncoder();
  #filled = 0;
  #bytes = 0;

  /** Adds the UTF-8 bytes of a text. A lone surrogate counts as U+FFFD, so the caller cuts between characters only. */
  add(text: string): void {
    const bytes = this.#encoder.encode(text);
    this.#bytes += bytes.length;
    for (let from = 0; from < bytes.length; ) {
      const piece = bytes.subarray(from, from + blockBytes - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      from += piece.length;
      if (this.#filled === blockBytes) this.#mix();
    }
  }

  /** The digest as 64 hexadecimal digits. Nothing can be added after it. */
  hex(): string {
    const bits = this.#bytes * 8;
    this.#block[this.#filled] = 0x80;
    this.#filled += 1;
    if (this.#filled > blockBytes - 8) {
      this.#block.fill(0, this.#filled);
      this.#mix();
    }
    this.#block.fill(0, this.#filled);
    this.#view.setUint32(blockBytes - 8, Math.floor(bits / 2 ** 32));
    this.#view.setUint32(blockBytes - 4, bits >>> 0);
    this.#mix();
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, "0")).join("");
  }

  /** Takes the full block into the state. */
  #mix(): void {
    const w = this.#schedule;
    for (let i = 0; i < 16; i++) w[i] = this.#view.getUint32(i * 4);
    for (let i = 16; i < 64; i++) {
      const [early, late] = [w[i - 15] ?? 0, w[i - 2] ?? 0];
      const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      w[i] = (w[i - 16] ?? 0) + s0 + (w[i - 7] ?? 0) + s1;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state;
    for (let i = 0; i < 64; i++) {
      const choice = (e & f) ^ (~e & g);
      const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (constants[i] ?? 0) + (w[i] ?? 0)) | 0;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      this.#state[i] = (this.#state[i] ?? 0) + word;
    });
    this.#filled = 0;
  }
}
