/** `varve send`: one message to a tab, or to a new one; with `--wait` until its turn is over. */
import type { ClientPorts } from "@varve/client";
import { bearerRest } from "@varve/client/node";
import {
  type ErrorBody,
  type Frame,
  isFault,
  type LogChunk,
  parseTabId,
  type TabId,
  type TurnEndReason,
  type TurnId,
  uuidV7Maker,
} from "@varve/protocol";
import { findServer, type RunningAddress } from "@varve/server";
import type { SendCommand } from "./arguments.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { follow } from "./follow.ts";
import { exitCodeOf, sentenceOf } from "./say.ts";
import type { World } from "./world.ts";

type Rest = ClientPorts["rest"];

export async function send(command: SendCommand, world: World): Promise<ExitCode> {
  const server = await findServer(command.home, world);
  if (isFault(server)) return refused(server, world);
  const rest = bearerRest({ baseUrl: server.url, token: server.token });
  const text = command.text === "-" ? await world.input() : command.text;
  const tab = command.tab === null ? await makeTab(rest, command) : tabNamed(command.tab);
  if (typeof tab !== "string") return refused(tab, world);
  const tail = command.wait ? await tailOf(rest, tab) : 0;
  if (typeof tail !== "number") return refused(tail, world);
  const id = uuidV7Maker(world.clock.now, world.randomBytes)();
  const answer = await rest({ method: "POST", path: `/tabs/${tab}/messages`, body: { id, text } });
  if (!answer.ok) return refused(answer.error, world);
  world.out(`${JSON.stringify({ tab, ...record(answer.body) })}\n`);
  return command.wait ? waitForTurn({ server, rest, tab, id, tail }, world) : exitCodes.done;
}

async function makeTab(rest: Rest, command: SendCommand): Promise<TabId | ErrorBody> {
  const { cwd, model, permissions } = command;
  const body = { cwd, ...(model !== undefined && { model }), ...(permissions !== undefined && { permissions }) };
  const answer = await rest({ method: "POST", path: "/tabs", body });
  if (!answer.ok) return answer.error;
  const { id } = record(answer.body);
  const tab = typeof id === "string" ? parseTabId(id) : null;
  return tab ?? { code: "internal", message: "The server named no tab." };
}

const tabNamed = (name: string): TabId | ErrorBody =>
  parseTabId(name) ?? { code: "bad-id", message: `'${name}' is no id of a tab.` };

async function tailOf(rest: Rest, tab: TabId): Promise<number | ErrorBody> {
  const answer = await rest({ method: "GET", path: `/tabs/${tab}/head` });
  if (!answer.ok) return answer.error;
  const { tail } = record(answer.body);
  return typeof tail === "number" ? tail : 0;
}

interface Waited {
  readonly server: RunningAddress;
  readonly rest: Rest;
  readonly tab: TabId;
  readonly id: string;
  /** The tab's last row before the message was sent. */
  readonly tail: number;
}

/** Prints the rows that follow until the turn of the message ends, waits for a person, or can never begin. */
async function waitForTurn({ server, rest, tab, id, tail }: Waited, world: World): Promise<ExitCode> {
  const stop = new AbortController();
  const watch = new TurnWatch(id, () => stop.abort());
  const problem = await follow(
    {
      server,
      rest,
      clock: world.clock,
      tab,
      signal: AbortSignal.any([stop.signal, world.ending, world.unread]),
      row: (row) => {
        if (watch.code !== null) return;
        world.out(`${JSON.stringify(row)}\n`);
        watch.row(row);
      },
      frame: (frame) => watch.frame(frame),
    },
    { log: null, seq: tail },
  );
  if (watch.said !== null) world.err(`varve: ${watch.said}\n`);
  if (watch.code !== null) return watch.code;
  return problem === null ? exitCodes.failed : refused(problem, world);
}

const endings: Readonly<Record<TurnEndReason, string | null>> = {
  done: null,
  stopped: "The turn was stopped.",
  deadline: "The turn took too long and was ended.",
  error: "The turn ended with an error.",
  restart: "The server was restarted in the middle of the turn.",
};

class TurnWatch {
  code: ExitCode | null = null;
  said: string | null = null;
  readonly #id: string;
  readonly #over: () => void;
  #turn: TurnId | null = null;

  constructor(id: string, over: () => void) {
    this.#id = id;
    this.#over = over;
  }

  row(row: LogChunk): void {
    if (row.id === this.#id) this.#turn = row.turnId;
    if (this.#turn === null || row.turnId !== this.#turn) return;
    if (row.type !== "system" || row.data.kind !== "turn-end") return;
    const said = endings[row.data.reason];
    this.#end(said === null ? exitCodes.done : exitCodes.turnFailed, said);
  }

  frame(frame: Frame): void {
    if (frame.type === "head") this.#status(frame.status);
    if (frame.type !== "ops") return;
    for (const op of frame.ops) {
      if (op.op === "status") this.#status(op);
      if (op.op === "message-dropped" && op.id === this.#id) this.#end(exitCodes.refused, "The message was removed.");
      if (op.op === "message-queued" && op.id === this.#id && op.state === "held") {
        this.#end(exitCodes.turnFailed, "The message is held: a person must let it go.");
      }
    }
  }

  #status({ state, turnId }: { readonly state: string; readonly turnId: TurnId | null }): void {
    if (state === "waiting" && turnId !== null && turnId === this.#turn) {
      this.#end(exitCodes.turnWaits, "The turn waits for a person: answer on the page, or use --permissions.");
    }
  }

  #end(code: ExitCode, said: string | null): void {
    if (this.code !== null) return;
    this.code = code;
    this.said = said;
    this.#over();
  }
}

function refused(error: ErrorBody, world: World): ExitCode {
  world.err(sentenceOf(error));
  return exitCodeOf(error);
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
