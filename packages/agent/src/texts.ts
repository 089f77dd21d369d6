/** Constant texts that become rows: what the model reads about its calls, and what a person reads about a turn. */

export const resultTexts = {
  stopped: "stopped by user",
  deadline: "stopped: the time limit of this turn was reached",
  closed: "stopped: the server was shut down",
  restarted: "server restarted; the command may have run",
  neverRun: "not run: the answer that asked for this call broke off",
  invalidArguments:
    "arguments incomplete or not a JSON object, so nothing was run. Send the call again with complete arguments.",
  secretArguments:
    "not run: the arguments held a secret that this server keeps. What was to run is not kept, so nothing was. Let the program read the secret from a file or a variable that the user names.",
  empty: "(no output)",
} as const;

/** Sealed as a visible user row when an answer was cut by the provider's length limit. */
export const continueText = "continue";

/** What a person reads when the server ended in mid-turn. */
export const closedText =
  "The server was shut down while this turn ran, so the turn was ended here. Send a message to go on.";

export function stoppedResult(reason: unknown): string {
  if (reason === "deadline") return resultTexts.deadline;
  return reason === "restart" ? resultTexts.closed : resultTexts.stopped;
}
