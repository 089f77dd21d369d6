/** The server is about to end: what becomes of a turn that is open then. */
import { pause } from "@varve/agent";
import type { Clock } from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Resolves when the turn has ended, or is left open because it waits for a person. It ends at its next step boundary, is
 * stopped when `graceMs` are over, and given up, open or not, when twice that time is.
 */
export async function turnLeft(core: TabCore, turn: TurnRun, graceMs: number): Promise<void> {
  const { clock } = core.ports;
  const waits = (): boolean => core.feed.status.state === "waiting";
  turn.endSoon();
  const left = new Promise<void>((resolve) => {
    const leave = (): void => {
      turn.abandon();
      resolve();
    };
    if (waits()) return leave();
    const grace = clock.setTimer(graceMs, () => (waits() ? leave() : turn.stop("restart")));
    // Left as well: a write that waits for a disk that somebody holds may take longer than anybody waits.
    const last = clock.setTimer(graceMs * 2, leave);
    void turn.finished.then(() => {
      grace.cancel();
      last.cancel();
    });
  });
  await Promise.race([turn.finished, left]);
}

/** Resolves with the work, or when so much time is over. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, pause(clock, ms, over.signal)]).finally(() => over.abort());
}
