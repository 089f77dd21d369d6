/**
 * The tick that the readers of one tab wait for together. Whoever is due later goes along with whoever is due first: told early
 * once, it is due with the others from then on, and one frame and one wake-up serve them all.
 */
import type { Clock, Timer } from "@varve/protocol";

interface Tick {
  readonly at: number;
  readonly timer: Timer;
}

export class SharedTick {
  readonly #waiting = new Set<() => void>();
  #tick: Tick | null = null;

  /** Calls `fire` in `ms` at the latest. */
  wait(clock: Clock, ms: number, fire: () => void): Timer {
    this.#waiting.add(fire);
    const at = clock.now() + ms;
    if (this.#tick === null || at < this.#tick.at) {
      this.#tick?.timer.cancel();
      this.#tick = { at, timer: clock.setTimer(ms, () => this.#fire()) };
    }
    return { cancel: () => this.#leave(fire) };
  }

  #fire(): void {
    this.#tick = null;
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const fire of due) fire();
  }

  #leave(fire: () => void): void {
    this.#waiting.delete(fire);
    if (this.#waiting.size > 0) return;
    this.#tick?.timer.cancel();
    this.#tick = null;
  }
}

/** The end of the current task, for all readers that go at once: one microtask serves them. */
export class SharedEdge {
  #waiting: (() => void)[] = [];

  wait(fire: () => void): void {
    this.#waiting.push(fire);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#fire());
  }

  #fire(): void {
    const due = this.#waiting;
    this.#waiting = [];
    let fired = 0;
    try {
      for (const fire of due) {
        fired += 1;
        fire();
      }
    } finally {
      // One that breaks keeps nobody else waiting for ever.
      for (const fire of due.slice(fired)) this.wait(fire);
    }
  }
}
