/** What `varve` says to the shell. The table stands in `docs/spec/cli.md` as well. */
export const exitCodes = {
  done: 0,
  /** The server could not start, or broke; or a recording could not be read. */
  failed: 1,
  /** The command line is not understood. */
  usage: 2,
  /** No server runs on this home, or it does not answer. */
  noServer: 3,
  /** The server refused what was asked. */
  refused: 4,
  /** `send --wait`: the turn ended in another way than done. */
  turnFailed: 5,
  /** `send --wait`: the turn waits for a person. */
  turnWaits: 6,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
