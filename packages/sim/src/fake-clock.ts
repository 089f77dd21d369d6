import { assert, type Clock, type Timer } from "@varve/protocol";

/** Timers that one `advance` may run; more means that timers start each other without end. */
const FIRED_MAX = 100_000;
/** Turns of the event loop given to promises after each timer, so that chains of awaits come to rest. */
const SETTLE_TURNS = 3;

export interface FakeClock extends Clock {
  /**
   * Moves time on, running each timer at its own time and in order (timers of one moment in the order in which they
   * were set), and lets promises settle before, between and after.
   */
  advance(ms: number): Promise<void>;
  /** Sets the time without running a timer, as when somebody sets the machine's clock. Due times move with it. */
  jump(ms: number): void;
  /** Timers that are set and have neither run nor been cancelled. */
  pending(): number;
  /** Milliseconds until the next timer; null if there is none. */
  nextIn(): number | null;
}

/** A clock that stands still until a test moves it. Starts at 2026-01-01T00:00:00Z unless told otherwise. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let wall = startMs;
  /** Time that only `advance` moves: what timers are measured by. */
  let elapsed = 0;
  let order = 0;
  const timers = new Map<number, { readonly dueAt: number; readonly fire: () => void }>();

  const next = (): { readonly key: number; readonly dueAt: number; readonly fire: () => void } | null => {
    let best: { readonly key: number; readonly dueAt: number; readonly fire: () => void } | null = null;
    // Keys rise, so of two timers of one moment the one that was set first is found first and kept.
    for (const [key, timer] of timers) if (best === null || timer.dueAt < best.dueAt) best = { key, ...timer };
    return best;
  };
  const moveTo = (moment: number): void => {
    wall += moment - elapsed;
    elapsed = moment;
  };

  return {
    now: () => wall,
    setTimer(ms: number, fire: () => void): Timer {
      assert(Number.isFinite(ms), "a timer needs a finite delay");
      const key = ++order;
      timers.set(key, { dueAt: elapsed + Math.max(0, ms), fire });
      return { cancel: () => void timers.delete(key) };
    },
    async advance(ms) {
      assert(ms >= 0, "time does not go back; use jump");
      const target = elapsed + ms;
      await settle();
      for (let fired = 0; ; fired += 1) {
        const due = next();
        if (due === null || due.dueAt > target) break;
        assert(fired < FIRED_MAX, `more than ${FIRED_MAX} timers in one advance`);
        moveTo(due.dueAt);
        timers.delete(due.key);
        due.fire();
        await settle();
      }
      moveTo(target);
    },
    jump(ms) {
      wall += ms;
    },
    pending: () => timers.size,
    nextIn() {
      const due = next();
      return due === null ? null : due.dueAt - elapsed;
    },
  };
}

/** Lets everything that is ready run: promise callbacks, and whatever they start that needs no outer world. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
