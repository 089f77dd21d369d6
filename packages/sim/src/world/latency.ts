import type { Prng } from "../prng.ts";

/** How long things take. Mostly at once or soon, sometimes long: that is what turns their order around. */
export class Latency {
  readonly #prng: Prng;
  /** While false, nothing takes longer than a moment. */
  wild = true;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /** Milliseconds. `scale` is what an ordinary one takes. */
  draw(scale: number): number {
    const lot = this.#prng.float();
    if (lot < 0.35) return 0;
    if (lot < 0.9 || !this.wild) return this.#prng.int(0, 2 * scale);
    return lot < 0.985 ? this.#prng.int(scale, 40 * scale) : this.#prng.int(20 * scale, 400 * scale);
  }
}
