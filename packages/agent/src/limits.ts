/** Every loop, wait and buffer of a turn has its bound here; the comment says what happens there. */
export interface TurnLimits {
  /** Requests of one turn, retried ones included, where the tab sets no number of its own. Before one more a person is asked. */
  readonly stepsMax: number;
  /** Retries of one step in a row. After them the failure is final: an error row ends the turn. */
  readonly retriesMax: number;
  /** Wait before the first retry; it doubles with each further one up to `retryWaitMaxMs`. */
  readonly retryWaitMs: number;
  readonly retryWaitMaxMs: number;
  /** A provider that asks for a longer wait than this is not waited for: the failure is final. */
  readonly retryAfterMaxMs: number;
  /** Answers cut by the provider's length limit that are continued within one turn. Then the turn ends with a notice. */
  readonly continuesMax: number;
  /** Characters of a tool's result. A longer one is cut at its end: tools bound their own output far below this. */
  readonly resultCharsMax: number;
  /** How long a stopped tool may take to end. Then its result is written without it. */
  readonly toolStopMs: number;
  /** Tools that run side by side; a further call of the step waits for a free place. */
  readonly parallelCallsMax: number;
  /** Compactions that a turn begins because its request does not fit, without a step finished between them. Then it fails. */
  readonly overflowsMax: number;
}

export const turnLimits: TurnLimits = {
  stepsMax: 200,
  retriesMax: 8,
  retryWaitMs: 500,
  retryWaitMaxMs: 30_000,
  retryAfterMaxMs: 300_000,
  continuesMax: 3,
  resultCharsMax: 120_000,
  toolStopMs: 5_000,
  parallelCallsMax: 16,
  overflowsMax: 2,
};
