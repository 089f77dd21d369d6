/** Runs everybody once a round, one after another, so that a busy machine slows all; whoever begins moves on each round. */
export async function inTurns(
  rounds: number,
  contestants: readonly ((round: number) => Promise<void>)[],
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const first = round % contestants.length;
    for (const run of [...contestants.slice(first), ...contestants.slice(0, first)]) await run(round);
  }
}
