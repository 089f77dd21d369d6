export interface Report {
  readonly name: string;
  readonly counts: Readonly<Record<string, unknown>>;
  readonly seed?: number;
  readonly figures: Readonly<Record<string, unknown>>;
}

/** The last line of a benchmark. */
export function report({ name, counts, seed = 0, figures }: Report): void {
  process.stdout.write(`${JSON.stringify({ name, counts, seed, figures })}\n`);
}

/** The number behind a flag of the command line, for runs shorter or longer than usual. */
export function numberFlag(flag: string, otherwise: number): number {
  const at = process.argv.indexOf(flag);
  const value = at < 0 ? Number.NaN : Number(process.argv[at + 1]);
  return Number.isFinite(value) ? value : otherwise;
}
