/**
 * Ending all processes of a call: the shell's group, and by their mark those that left it. First asked (SIGTERM), then,
 * after the grace, killed until none is found.
 */
import type { Clock } from "@varve/protocol";
import { toolLimits } from "./limits.ts";
import type { ProcessOperations, ShellProcess, ToolOperations } from "./operations.ts";
import { markVariable } from "./shell-env.ts";

export const pause = (clock: Clock, ms: number): Promise<void> => new Promise((done) => clock.setTimer(ms, done));

/** Living processes of a call; null where the system can't tell. */
export const living = (processes: ProcessOperations, mark: string): Promise<readonly number[] | null> =>
  processes.marked(markVariable, mark);

/** Resolves when nothing of the call lives, or when nothing more can be done. */
export async function endTree(operations: ToolOperations, mark: string, shell: ShellProcess | null): Promise<void> {
  let exited = shell === null;
  void shell?.exited.then(() => {
    exited = true;
  });
  const { processes, clock } = operations;
  const signalAll = async (signal: "SIGTERM" | "SIGKILL") => {
    const left = await living(processes, mark);
    // An empty group's number may belong to someone else by now, so the group is signalled only while one of ours lives.
    if (left === null || left.length > 0 || !exited) shell?.signalGroup(signal);
    for (const pid of left ?? []) processes.signal(pid, signal);
  };
  await signalAll("SIGTERM");
  let graceOver = false;
  const grace = clock.setTimer(toolLimits.killGraceMs, () => {
    graceOver = true;
  });
  while (!graceOver) {
    const left = await living(processes, mark);
    if (exited && (left === null || left.length === 0)) break;
    await pause(clock, toolLimits.killPollMs);
  }
  grace.cancel();
  for (let round = 0; round < toolLimits.killRoundsMax; round++) {
    await signalAll("SIGKILL");
    const left = await living(processes, mark);
    if (exited && (left === null || left.length === 0)) return;
    await pause(clock, toolLimits.killPollMs);
  }
}
