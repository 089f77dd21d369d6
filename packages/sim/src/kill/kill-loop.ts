/**
 * The real server, killed again and again under agents at work and clients that post, and what must hold after each start.
 * A run is made of eras: each has a home, a provider and tabs of its own, so that no run is slower at its end.
 */
import type { Prng } from "../prng.ts";
import { createPrng } from "../prng.ts";
import { Era } from "./era.ts";
import { type KillReport, Tally } from "./tally.ts";

/** Kills of one era. */
const eraKills = 20;
export interface KillOptions {
  readonly seed: number;
  readonly kills: number;
  /** After each era. */
  readonly tell?: (line: string) => void;
}

export async function runKills({ seed, kills, tell }: KillOptions): Promise<KillReport> {
  const prng = createPrng(seed);
  const tally = new Tally(seed);
  for (let left = kills; left > 0; left -= eraKills) {
    await oneEra(prng, Math.min(left, eraKills), tally);
    tell?.(`${tally.kills} of ${kills} kills, ${tally.violations.length} violations`);
    // What breaks once would go on being told for every kill of a long run.
    if (tally.violations.length > 0) break;
  }
  return tally.report();
}

async function oneEra(prng: Prng, kills: number, tally: Tally): Promise<void> {
  await using era = await Era.begin(prng.fork(), tally);
  while (tally.killsOf(era) < kills && tally.violations.length === 0) await era.live();
  await era.end();
}
