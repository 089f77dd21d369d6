/**
 * The tool calls of one turn that run now. Those that have run for `limits.longCallMs` are shown in the tab's status, because
 * what waits as a steer waits for them; a short call costs a timer and no op.
 */
import type { RunningTool } from "@varve/agent";
import { assert, type Clock, type LongCall, limits, type Timer } from "@varve/protocol";

interface Running {
  readonly callId: string;
  readonly name: string;
  readonly since: number;
  readonly timer: Timer;
  isLong: boolean;
  isMoved: boolean;
  move: (() => boolean) | null;
}

export interface RunningCallsPorts {
  readonly clock: Clock;
  /** What `shown` answers is another. */
  readonly changed: () => void;
}

export class RunningCalls {
  readonly #ports: RunningCallsPorts;
  /** In the order in which they began. */
  readonly #calls = new Map<string, Running>();

  constructor(ports: RunningCallsPorts) {
    this.#ports = ports;
  }

  began({ callId, name }: { readonly callId: string; readonly name: string }): RunningTool {
    assert(!this.#calls.has(callId), `call ${callId} runs already`);
    const { clock, changed } = this.#ports;
    const timer = clock.setTimer(limits.longCallMs, () => {
      running.isLong = true;
      if (!running.isMoved) changed();
    });
    const running: Running = {
      callId,
      name,
      since: clock.now(),
      timer,
      isLong: false,
      isMoved: false,
      move: null,
    };
    this.#calls.set(callId, running);
    return {
      canMove: (move) => {
        running.move = move;
        if (running.isLong && this.#calls.get(callId) === running) changed();
      },
      ended: () => {
        timer.cancel();
        if (this.#calls.get(callId) !== running) return;
        this.#calls.delete(callId);
        if (running.isLong && !running.isMoved) changed();
      },
    };
  }

  /** Whether the call goes on in the background. Asked again before its result is sealed, it is the same move. */
  toBackground(callId: string): boolean {
    const running = this.#calls.get(callId);
    if (running === undefined) return false;
    if (running.isMoved) return true;
    if (running.move?.() !== true) return false;
    running.isMoved = true;
    if (running.isLong) this.#ports.changed();
    return true;
  }

  /** Calls that are long and still waited for; undefined when there are none, as a status says it. */
  shown(): LongCall[] | undefined {
    const long = [...this.#calls.values()].filter(({ isLong, isMoved }) => isLong && !isMoved);
    if (long.length === 0) return undefined;
    return long.map(({ callId, name, since, move }) => ({ callId, name, since, movable: move !== null }));
  }

  /** The turn is over: nothing is shown any more, and no timer is left. */
  close(): void {
    for (const { timer } of this.#calls.values()) timer.cancel();
    this.#calls.clear();
  }
}
