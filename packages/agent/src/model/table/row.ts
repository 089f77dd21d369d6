/** A row of the table of models, as the generated file and the list of retired ones hold it. */
export type Rate = number | null;
/** Context, most output, then US dollars for a million tokens: input, output, read, write. Tiers begin above a total input. */
export type TableRow = readonly [
  contextTokens: Rate,
  outputTokensMax: Rate,
  input: Rate,
  output: Rate,
  read: Rate,
  write: Rate,
  tiers?: readonly TableTier[],
];
export type TableTier = readonly [above: number, input: Rate, output: Rate, read: Rate, write: Rate];
