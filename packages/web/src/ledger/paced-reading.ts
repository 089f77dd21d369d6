import type { Clock, Timer } from "@varve/protocol";

/** The least rest between two readings that nobody waits for. */
export const restMs = 3_000;
/** Such readings take at most this share of the time, however long one takes. */
export const readingShare = 0.05;

/** Reads again when something moved. While one reading is under way, any number of wishes become one more. */
export class PacedReading {
  readonly #read: () => Promise<void>;
  readonly #clock: Clock;
  #running: Promise<void> | null = null;
  /** To be read once more, at once. */
  #again = false;
  /** To be read once more, after a rest. */
  #later = false;
  #timer: Timer | null = null;
  #restMs = restMs;
  /** Nothing is read in haste before this moment. */
  #restsUntil = 0;

  constructor(read: () => Promise<void>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** At once. Resolves when what was read is no older than this wish. */
  now(): Promise<void> {
    this.rest();
    if (this.#running !== null) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#readAll();
    return this.#running;
  }

  /** Within the pace: for what moves many times a minute while an agent works. */
  soon(): void {
    if (this.#timer !== null) return;
    if (this.#running !== null) {
      this.#later = true;
      return;
    }
    const wait = this.#restsUntil - this.#clock.now();
    if (wait <= 0) {
      void this.now();
      return;
    }
    // A clock that was set back must not hold up the figures for longer than the rest itself.
    this.#timer = this.#clock.setTimer(Math.min(wait, this.#restMs), () => {
      this.#timer = null;
      void this.now();
    });
  }

  /** Nobody looks any more: a reading that was only planned does not happen. */
  rest(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#later = false;
  }

  async #readAll(): Promise<void> {
    const began = this.#clock.now();
    try {
      do {
        this.#again = false;
        await this.#read();
      } while (this.#again);
    } finally {
      this.#running = null;
      const ended = this.#clock.now();
      this.#restMs = Math.max(restMs, (ended - began) / readingShare);
      this.#restsUntil = ended + this.#restMs;
      if (this.#later) {
        this.#later = false;
        this.soon();
      }
    }
  }
}
