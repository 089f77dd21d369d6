/** What a kill run counts, and what it found wrong. */
import { type Moment, moments } from "./moment.ts";
import type { Share } from "./witness.ts";

/** A block that was seen to be shorter than this says nothing about a share: it is younger than the journal's flush. */
export const shareFrom = 1_000;

export interface KillReport {
  readonly seed: number;
  readonly kills: number;
  readonly byMoment: Readonly<Record<Moment, number>>;
  readonly starts: number;
  /** Acknowledged messages, and rows that were compared. */
  readonly messages: number;
  readonly rows: number;
  readonly commands: number;
  readonly tornCopies: number;
  readonly tornStarts: number;
  /** Of open text that a client had seen before a kill: the share kept. `min`: of blocks of at least `shareFrom` characters. */
  readonly kept: { readonly blocks: number; readonly mean: number; readonly min: number; readonly lost: number };
  readonly violations: readonly string[];
}

/** What a run adds up. */
export class Tally {
  readonly violations: string[] = [];
  kills = 0;
  starts = 0;
  messages = 0;
  rows = 0;
  commands = 0;
  tornCopies = 0;
  tornStarts = 0;
  readonly #seed: number;
  readonly #byMoment: Record<Moment, number>;
  readonly #ofEra = new Map<object, number>();
  readonly #shares: Share[] = [];

  constructor(seed: number) {
    this.#seed = seed;
    // Every moment is named once.
    this.#byMoment = Object.fromEntries(moments.map((moment) => [moment, 0])) as Record<Moment, number>;
  }

  killed(era: object, moment: Moment): void {
    this.kills += 1;
    this.#byMoment[moment] += 1;
    this.#ofEra.set(era, this.killsOf(era) + 1);
  }
  killsOf(era: object): number {
    return this.#ofEra.get(era) ?? 0;
  }
  kept(shares: readonly Share[]): void {
    this.#shares.push(...shares);
  }
  wrong(where: string, problems: readonly string[]): void {
    this.violations.push(...problems.map((problem) => `kill ${this.kills} (${where}): ${problem}`));
  }

  report(): KillReport {
    const { kills, starts, messages, rows, commands, tornCopies, tornStarts, violations } = this;
    const seen = this.#shares.reduce((sum, share) => sum + share.seen, 0);
    const kept = this.#shares.reduce((sum, share) => sum + share.kept, 0);
    const long = this.#shares.filter((share) => share.seen >= shareFrom).map((share) => share.kept / share.seen);
    return {
      ...{
        seed: this.#seed,
        kills,
        byMoment: this.#byMoment,
        starts,
        messages,
        rows,
        commands,
        tornCopies,
        tornStarts,
      },
      kept: {
        blocks: this.#shares.length,
        mean: seen === 0 ? 1 : kept / seen,
        min: Math.min(1, ...long),
        lost: Math.max(0, ...this.#shares.map((share) => share.seen - share.kept)),
      },
      violations,
    };
  }
}
