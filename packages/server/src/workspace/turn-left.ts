/** The server is about to end: what becomes of a turn that is open then. */
import type { TabCore } from "./tab-core.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Resolves when the turn has ended, or is left open because it waits for a person. It ends at its next step boundary, is
 * stopped when `graceMs` are over, and given up when twice that time is.
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
    const last = clock.setTimer(graceMs * 2, () => turn.abandon());
    void turn.finished.then(() => {
      grace.cancel();
      last.cancel();
    });
  });
  await Promise.race([turn.finished, left]);
}
