/**
 * CONTRACT. Time as an argument. Pure code never reads a clock of its own: whoever composes the program passes one in.
 */
export interface Timer {
  /** Idempotent; after it, `fire` never runs. */
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump in either direction: never used to order rows (see `order.ts`). */
  now(): number;
  /** Runs `fire` once, at least `ms` milliseconds from now, never synchronously. */
  setTimer(ms: number, fire: () => void): Timer;
}
