/** One server on one home: from its lock to its last line. */
import { endOrphans } from "@varve/agent";
import { isHomeHeld, type Log, openSqliteLog } from "@varve/log";
import { type Clock, type Fault, isFault } from "@varve/protocol";
import { compose, type Parts } from "./compose.ts";
import { addressOf, bindProblem, listenOn } from "./listen-address.ts";
import type { LogLine } from "./log-line.ts";
import { type RunningFile, readRunning, removeRunning, writeRunning } from "./running-file.ts";
import { askForLink, findServer, type SignInLink } from "./running-server.ts";
import type { StartOptions } from "./start-options.ts";
import { atMost } from "./workspace/turn-left.ts";

export interface RunningServer {
  readonly kind: "running";
  /** `http://127.0.0.1:4477`. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly log: LogLine;
  /** Recovery is over and the log was checked. Never rejects. */
  readonly settled: Promise<void>;
  /** A new one-time sign-in link. */
  link(): string;
  /** Pages and programs that hold a socket now. */
  sockets(): number;
  /** Turns end at a step boundary where that comes soon, else they are stopped; then all is closed. Idempotent. */
  stop(): Promise<void>;
}

/** The home belongs to a server that runs already. */
export interface RunningElsewhere {
  readonly kind: "elsewhere";
  readonly url: string;
  /** A new one-time sign-in link of that server, or why there is none. */
  readonly link: SignInLink | Fault;
}

/** Turns get this long to come to a step boundary when the server ends. */
const graceMs = 3_000;

/**
 * Opens the home, listens, and answers once requests are taken. A fault leaves nothing behind: codes are
 * `bad-request` (host or token), `address-unavailable`, and those of opening a log.
 */
export async function startServer(options: StartOptions): Promise<RunningServer | RunningElsewhere | Fault> {
  const refused = bindProblem(options.host, options.env.VARVE_TOKEN);
  if (refused !== null) return refused;
  const { home } = options;
  const [log, before] = await Promise.all([
    openSqliteLog({ home, clock: options.clock, importDb: options.importDb }),
    readRunning(home),
  ]);
  if (isHomeHeld(log)) return before === null ? log : elsewhere(options, before);
  if (isFault(log)) return log;
  const parts = await compose(log, options);
  if (isFault(parts)) {
    await log.close();
    return parts;
  }
  // A file that is still there tells that the last server was killed: what its tools left running ends first.
  if (before !== null) await endOrphans(parts.operations, home);
  const port = await listenOn(parts.doors.server, options.host, options.port);
  if (isFault(port)) {
    await endParts(parts, log);
    return port;
  }
  const url = addressOf(options.host, port);
  const { boot, proofKey } = parts;
  await writeRunning(home, { url, host: options.host, port, pid: options.pid, boot, proofKey });
  return running(parts, log, { home, url, port, clock: options.clock });
}

function running(
  parts: Parts,
  log: Log,
  {
    home,
    url,
    port,
    clock,
  }: { readonly home: string; readonly url: string; readonly port: number; readonly clock: Clock },
): RunningServer {
  const ending = new AbortController();
  const recovered = recover(parts, ending.signal);
  const settled = recovered.then(() => check(parts, log, ending.signal));
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    parts.doors.refuseChanges();
    ending.abort();
    // A recovery that a held disk keeps waiting, and the check of a large file, end with the log.
    await atMost(clock, graceMs, recovered);
    await endParts(parts, log);
    await removeRunning(home);
  };
  parts.line("info", "listening", { url, engine: log.engine.name, version: log.engine.version });
  return {
    kind: "running",
    url,
    port,
    token: parts.token,
    log: parts.line,
    settled,
    link: () => `${parts.publicUrl ?? url}/#code=${parts.codes.make()}`,
    sockets: () => parts.doors.connections().sockets,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** What an earlier server left unfinished is ended. */
async function recover({ workspace, line }: Parts, ending: AbortSignal): Promise<void> {
  const failed = await workspace.recoverAll();
  // What a server that ends did not come to is done by the next one.
  if (ending.aborted) return;
  for (const { tab, fault } of failed) line("error", "recovery-failed", { tab, ...fault });
}

/** Then the log is looked at as a whole. */
async function check({ line }: Parts, log: Log, ending: AbortSignal): Promise<void> {
  if (ending.aborted) return;
  const damage = await log.check();
  if (damage !== null && !ending.aborted) line("error", "log-check", { ...damage });
}

async function endParts({ workspace, doors, tools }: Parts, log: Log): Promise<void> {
  await workspace.close(graceMs);
  await doors.close();
  await tools.close();
  await log.close();
}

async function elsewhere(options: StartOptions, { url }: RunningFile): Promise<RunningElsewhere> {
  const address = await findServer(options.home, options);
  const link = isFault(address) ? address : await askForLink(address, options.fetch);
  return { kind: "elsewhere", url, link };
}
