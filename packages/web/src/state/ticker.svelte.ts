import type { Clock, Timer } from "@varve/protocol";
import { createSubscriber } from "svelte/reactivity";

const TICK_MS = 1000;

/** The time, renewed each second while somebody shows it. */
export class Ticker {
  readonly #clock: Clock;
  readonly #subscribe: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#subscribe = createSubscriber((update) => {
      let timer: Timer | null = null;
      const tick = (): void => {
        timer = clock.setTimer(TICK_MS, () => {
          update();
          tick();
        });
      };
      tick();
      return () => timer?.cancel();
    });
  }

  get now(): number {
    this.#subscribe();
    return this.#clock.now();
  }
}
