/** `varve tail`: the rows of a tab as JSON lines, and those that follow, until the process is asked to end. */
import { bearerRest } from "@varve/client/node";
import { isFault, parseTabId } from "@varve/protocol";
import { findServer } from "@varve/server";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { follow } from "./follow.ts";
import { exitCodeOf, sentenceOf } from "./say.ts";
import type { World } from "./world.ts";

export async function tail(
  command: { readonly home: string; readonly tab: string; readonly from: number },
  world: World,
): Promise<ExitCode> {
  const tab = parseTabId(command.tab);
  if (tab === null) {
    world.err(`varve: '${command.tab}' is no id of a tab. (bad-id)\n`);
    return exitCodes.refused;
  }
  const server = await findServer(command.home, world);
  if (isFault(server)) {
    world.err(sentenceOf(server));
    return exitCodeOf(server);
  }
  const problem = await follow(
    {
      server,
      rest: bearerRest({ baseUrl: server.url, token: server.token }),
      clock: world.clock,
      tab,
      signal: AbortSignal.any([world.ending, world.unread]),
      row: (row) => world.out(`${JSON.stringify(row)}\n`),
      frame: () => undefined,
    },
    { log: null, seq: Math.max(0, command.from - 1) },
  );
  if (problem === null) return exitCodes.done;
  world.err(sentenceOf(problem));
  return exitCodeOf(problem);
}
