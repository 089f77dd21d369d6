/** Asking again after a refusal that passes by itself: later each time, until something was granted. */
import type { Clock, Timer } from "@varve/protocol";

export const patienceFirstMs = 1_000;
export const patienceMaxMs = 15_000;

interface Refused {
  readonly code: string;
}

/** A server that closes, a log that does not answer, an owner that changed: the same command may be granted later. */
const passing: ReadonlySet<string> = new Set(["shutting-down", "log-fenced", "log-unavailable"]);
/** A full disk and a mistake of the server pass as well, but only a person should send a message into them again. */
const passingForReaders: ReadonlySet<string> = new Set([...passing, "disk-full", "internal"]);

/** Whether a message that was refused goes out again without being asked. */
export const sendPasses = ({ code }: Refused): boolean => passing.has(code);
/** Whether it is worth asking the server again by itself: a subscription costs nothing there. */
export const passesByItself = ({ code }: Refused): boolean => passingForReaders.has(code);

export class Patience {
  readonly #clock: Clock;
  readonly #again: () => void;
  #timer: Timer | undefined;
  #refusals = 0;

  constructor(clock: Clock, again: () => void) {
    this.#clock = clock;
    this.#again = again;
  }

  /** One wait at a time, however much was refused meanwhile. */
  refused(): void {
    if (this.#timer !== undefined) return;
    const ms = Math.min(patienceMaxMs, patienceFirstMs * 2 ** Math.min(this.#refusals, 8));
    this.#refusals += 1;
    this.#timer = this.#clock.setTimer(ms, () => {
      this.#timer = undefined;
      this.#again();
    });
  }

  granted(): void {
    this.#refusals = 0;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
