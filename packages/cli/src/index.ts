/** The public surface of the command line. */
export { type ExitCode, exitCodes } from "./exit-codes.ts";
export { run } from "./run.ts";
export type { World } from "./world.ts";
