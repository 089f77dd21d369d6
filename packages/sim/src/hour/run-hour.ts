/**
 * Streaming for a long time on a clock that is moved: model, loop, owner, log on disk, hub, the door of a connection and a
 * client's view, all real, in one process. Between two spans whoever runs it is told what is held.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClientPorts, createSyncClient, memoryOutbox, type TabHandle } from "@varve/client";
import { type Log, memoryLog, openSqliteLog } from "@varve/log";
import { assert, type Clock, fault, idMaker, isFault, type LogId } from "@varve/protocol";
import { ConnectionDoor, createWorkspace, Devices, type LiveWorkspace } from "@varve/server/parts";
import { createFakeClock, type FakeClock, settle } from "../fake-clock.ts";
import { countingIdTexts } from "../fake-ids.ts";
import { simulatedPlace } from "../simulated-server.ts";
import { lookTools, type Pace, steadyModels, type Told } from "./steady-model.ts";

export interface HourOptions {
  readonly minutes: number;
  readonly spans: number;
  readonly pace: Pace;
  /** After each span, with nothing under way but the stream. */
  readonly spanOver: (held: Held) => void;
}

export interface Held {
  /** What the client's window holds, and what the log does. */
  readonly rows: number;
  readonly tail: number;
  readonly openChars: number;
}

export interface HourFigures extends Told {
  readonly frames: number;
  readonly frameBytes: number;
  readonly turns: number;
  readonly tail: number;
  /** The most rows that the window held at the end of a span. */
  readonly rowsMost: number;
  /** Characters that the sealed rows hold of those that the model said in sealed steps: all, or something was lost. */
  readonly sealedChars: number;
}

const advanceMs = 1_000;

export async function runHour(options: HourOptions): Promise<HourFigures> {
  const home = await mkdtemp(join(tmpdir(), "varve-hour-"));
  const clock = createFakeClock();
  const log = await openSqliteLog({ home, clock });
  assert(!isFault(log), "a new home can be opened");
  try {
    return await new Hour(log, clock, options).run();
  } finally {
    await log.close();
    await rm(home, { recursive: true, force: true });
  }
}

class Hour {
  readonly #log: Log;
  readonly #clock: FakeClock;
  readonly #options: HourOptions;
  readonly #told: Told = { deltas: 0, steps: 0 };
  readonly #sent = { frames: 0, frameBytes: 0 };

  constructor(log: Log, clock: FakeClock, options: HourOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#options = options;
  }

  async run(): Promise<HourFigures> {
    const { minutes, spans, spanOver } = this.#options;
    const workspace = await createWorkspace(this.#workspaceOptions());
    const made = await workspace.create({ cwd: "/project", model: "sim/steady", permissions: "allow" });
    if (isFault(made)) throw new Error(made.message);
    const devices = await Devices.load({ log: memoryLog(), clock: this.#clock, random: (into) => into });
    const client = createSyncClient(this.#clientPorts(workspace, devices));
    const handle = client.open(made.id);
    handle.focus(true);
    await this.#clock.advance(advanceMs);
    let [turns, rowsMost] = [0, 0];
    for (let span = 0; span < spans; span++) {
      for (let ms = 0; ms < (minutes * 60_000) / spans; ms += advanceMs) {
        turns += sayMore(handle) ? 1 : 0;
        await this.#clock.advance(advanceMs);
      }
      const held = heldBy(handle);
      rowsMost = Math.max(rowsMost, held.rows);
      spanOver(held);
    }
    const sealedChars = await this.#sealedChars(made.logId);
    const { tail } = handle.snapshot().window;
    client.close();
    await this.#closed(workspace);
    return { ...this.#told, ...this.#sent, turns, tail, rowsMost, sealedChars };
  }

  async #sealedChars(logId: LogId): Promise<number> {
    let chars = 0;
    for (let after = 0; ; ) {
      const page = await this.#log.page({ logId, after, limit: 500 });
      if (isFault(page)) throw new Error(page.message);
      for (const row of page.rows) if (row.role === "assistant" && row.type === "text") chars += row.data.text.length;
      const last = page.rows.at(-1);
      if (last === undefined || last.seq === page.tail) return chars;
      after = last.seq;
    }
  }

  /** The clock stands still by itself; the grace of an open turn is over as soon as it moves on. */
  async #closed(workspace: LiveWorkspace): Promise<void> {
    const closing = workspace.close(1).then(() => true);
    while (!(await Promise.race([closing, this.#clock.advance(5).then(() => false)]))) await settle();
  }

  #workspaceOptions(): Parameters<typeof createWorkspace>[0] {
    const clock = this.#clock;
    return {
      log: this.#log,
      clock,
      ids: idMaker(countingIdTexts("hour")),
      random: () => 0.5,
      giveWay: () => new Promise((resolve) => setImmediate(resolve)),
      models: steadyModels(clock, this.#options.pace, this.#told),
      tools: lookTools(),
      ...simulatedPlace,
      boot: "boot-1",
      defaultModel: async () => "sim/steady",
      limits: { dayMoneyMax: () => null, setDayMoneyMax: async () => null, stepsMax: () => 1_000 },
      broke: (error) => {
        throw error;
      },
    };
  }

  #clientPorts(workspace: LiveWorkspace, devices: Devices): ClientPorts {
    const clock: Clock = this.#clock;
    const ids = idMaker(countingIdTexts("client"));
    return {
      clock,
      newId: () => ids.chunk(),
      random: () => 0.5,
      outbox: memoryOutbox(),
      identity: { client: "hour", build: "build" },
      rest: async () => ({ ok: false, error: fault("log-unavailable", "Only the socket is there.") }),
      connect: (handlers) => {
        const door = new ConnectionDoor(
          {
            send: (text) => {
              this.#sent.frames += 1;
              this.#sent.frameBytes += text.length;
              queueMicrotask(() => handlers.frame(text));
            },
            buffered: () => 0,
            close: (code) => handlers.closed(code),
          },
          { kind: "token" },
          { workspace, devices, clock, build: "build", boot: "boot-1", broke: (error) => Promise.reject(error) },
        );
        queueMicrotask(handlers.opened);
        return { send: (text) => void door.received(text), close: () => door.closed() };
      },
    };
  }
}

/** The next message, once the turn before has ended. */
function sayMore(handle: TabHandle): boolean {
  const { ready, status, pending } = handle.snapshot();
  if (!ready || status.state !== "idle" || pending.length > 0) return false;
  handle.send({ text: "Go on, please." });
  return true;
}

function heldBy(handle: TabHandle): Held {
  const { rows, open, window } = handle.snapshot();
  const openChars = open.reduce((chars, block) => chars + block.text.length, 0);
  return { rows: rows.length, tail: window.tail, openChars };
}
