/** What many runs come to: the last line of a soak. */
import type { RunResult } from "./run-world.ts";

export interface Failed {
  readonly seed: number;
  readonly rule: string;
  readonly message: string;
  readonly event: number;
  readonly kept: string;
}

export interface Tally {
  runs: number;
  events: number;
  rows: number;
  boots: number;
  restores: number;
  simulatedHours: number;
  readonly counts: Record<string, number>;
  readonly scopes: Record<string, number>;
  readonly failures: Failed[];
}

export const emptyTally = (): Tally => ({
  runs: 0,
  events: 0,
  rows: 0,
  boots: 0,
  restores: 0,
  simulatedHours: 0,
  counts: {},
  scopes: {},
  failures: [],
});

export function addRun(tally: Tally, scope: string, result: RunResult): void {
  tally.runs += 1;
  tally.events += result.events;
  tally.rows += result.rows;
  tally.boots += result.boots;
  tally.restores += result.restores;
  tally.simulatedHours += result.simulatedMs / 3_600_000;
  addTo(tally.counts, Object.fromEntries(result.counts));
  addTo(tally.scopes, { [scope]: 1 });
}

export function addTally(tally: Tally, other: Tally): void {
  tally.runs += other.runs;
  tally.events += other.events;
  tally.rows += other.rows;
  tally.boots += other.boots;
  tally.restores += other.restores;
  tally.simulatedHours += other.simulatedHours;
  addTo(tally.counts, other.counts);
  addTo(tally.scopes, other.scopes);
  tally.failures.push(...other.failures);
}

function addTo(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
}
