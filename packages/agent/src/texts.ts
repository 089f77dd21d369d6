/** Constant texts that become rows: what the model reads about its calls, and what a person reads about a turn. */

export const resultTexts = {
  stopped: "stopped by user",
  deadline: "stopped: the time limit of this turn was reached",
  restarted: "server restarted; the command may have run",
  neverRun: "not run: the answer that asked for this call broke off",
  invalidArguments:
    "arguments incomplete or not a JSON object, so nothing was run. Send the call again with complete arguments.",
  empty: "(no output)",
} as const;

/** Sealed as a visible user row when an answer was cut by the provider's length limit. */
export const continueText = "continue";

export const stoppedResult = (reason: unknown): string =>
  reason === "deadline" ? resultTexts.deadline : resultTexts.stopped;
