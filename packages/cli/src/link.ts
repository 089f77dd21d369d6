/** `varve link`: a new one-time sign-in link of the server that runs. */
import { isFault } from "@varve/protocol";
import { askForLink, findServer } from "@varve/server";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { exitCodeOf, sentenceOf } from "./say.ts";
import type { World } from "./world.ts";

export async function link(home: string, world: World): Promise<ExitCode> {
  const server = await findServer(home, world);
  const answer = isFault(server) ? server : await askForLink(server, world.fetch);
  if (isFault(answer)) {
    world.err(sentenceOf(answer));
    return exitCodeOf(answer);
  }
  world.out(`${answer.url}\n`);
  return exitCodes.done;
}
