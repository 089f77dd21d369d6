/** How faults are told on a terminal: one sentence, what to do, and the code. */
import type { ErrorBody } from "@varve/protocol";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

export function sentenceOf({ message, hint, code }: ErrorBody): string {
  return `varve: ${message}${hint === undefined ? "" : ` ${hint}`} (${code})\n`;
}

/** For commands that ask a server: nobody answered, or the answer was no. */
export const exitCodeOf = ({ code }: ErrorBody): ExitCode =>
  code === "log-unavailable" || code === "shutting-down" ? exitCodes.noServer : exitCodes.refused;
