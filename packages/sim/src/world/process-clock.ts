import type { Clock } from "@varve/protocol";
import type { EventQueue, Lifetime } from "./event-queue.ts";

/** 2026-01-01T00:00:00Z: when every world begins. */
export const beginMs = Date.UTC(2026, 0, 1);

/** The clock of one machine: set wrong by `skew.ms`, which may change at any time. Timers are measured by what really passes. */
export function processClock(queue: EventQueue, life: Lifetime, skew: { ms: number }): Clock {
  return {
    now: () => beginMs + Math.floor(queue.now) + skew.ms,
    setTimer: (ms, fire) => queue.after(Math.max(0, ms), { kind: "timer", life }, fire),
  };
}
