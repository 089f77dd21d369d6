/** `varve`: the server in this process, until somebody asks it to end. */
import { isFault } from "@varve/protocol";
import { osKeyRing, type RunningServer, startServer } from "@varve/server";
import type { StartCommand } from "./arguments.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { sentenceOf } from "./say.ts";
import type { World } from "./world.ts";

/** A page that was open before reconnects within this time; then no second one is opened. */
const reconnectMs = 2_000;

export async function start(command: StartCommand, world: World): Promise<ExitCode> {
  const { host, port, home, allowHosts, trustProxies, publicUrl, importDb } = command;
  const { env, userHome, clock, randomBytes, random, fetch, pid, webRoot, version, build } = world;
  const outcome = await startServer({
    ...{ host, port, home, allowHosts, trustProxies, publicUrl, importDb },
    ...{ env, userHome, clock, randomBytes, random, fetch, pid, webRoot, version, build },
    keyRing: osKeyRing,
    writeLog: world.err,
  });
  if (isFault(outcome)) {
    world.err(sentenceOf(outcome));
    return exitCodes.failed;
  }
  if (outcome.kind === "elsewhere") {
    world.out(`Varve is running already on ${outcome.url}\n`);
    if (isFault(outcome.link)) {
      world.err(sentenceOf(outcome.link));
      return exitCodes.noServer;
    }
    world.out(`Sign in: ${outcome.link.url}\n`);
    if (command.open && outcome.link.sockets === 0 && hasDesktop(world)) world.openBrowser(outcome.link.url);
    return exitCodes.done;
  }
  world.strayErrors((error) => outcome.log("error", "stray-error", { error }));
  const link = outcome.link();
  world.out(`Varve listening on ${outcome.url}\nSign in: ${link}\n`);
  world.listening();
  if (command.open) openUnlessPageReturns(outcome, world);
  await ended(world.ending);
  await outcome.stop();
  return exitCodes.done;
}

function openUnlessPageReturns(server: RunningServer, world: World): void {
  if (!hasDesktop(world)) return;
  const timer = world.clock.setTimer(reconnectMs, () => {
    if (server.sockets() === 0) world.openBrowser(server.link());
  });
  world.ending.addEventListener("abort", () => timer.cancel());
}

function hasDesktop({ platform, env }: World): boolean {
  if (env.SSH_CONNECTION !== undefined || env.CI !== undefined) return false;
  if (platform === "darwin" || platform === "win32") return true;
  return Boolean(env.DISPLAY) || Boolean(env.WAYLAND_DISPLAY);
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
