/** One command line from beginning to end. Answers with the exit code and never throws for a fault of the world. */
import { unreachable } from "@varve/protocol";
import { parseCommandLine } from "./arguments.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { usage } from "./usage.ts";
import type { World } from "./world.ts";

export async function run(args: readonly string[], world: World): Promise<ExitCode> {
  const line = parseCommandLine(args, world);
  switch (line.command) {
    case "help":
      world.out(usage);
      return exitCodes.done;
    case "version":
      world.out(`varve ${world.version} (${world.build})\n`);
      return exitCodes.done;
    case "wrong":
      world.err(`varve: ${line.sentence}.\n\n${usage}`);
      return exitCodes.usage;
    case "start":
      return (await import("./start.ts")).start(line, world);
    case "link":
      return (await import("./link.ts")).link(line.home, world);
    case "token":
      return (await import("./token.ts")).token(line, world);
    case "send":
      return (await import("./send.ts")).send(line, world);
    case "tail":
      return (await import("./tail.ts")).tail(line, world);
    case "ledger":
      return (await import("./ledger.ts")).ledger(line, world);
    default:
      return unreachable(line);
  }
}
