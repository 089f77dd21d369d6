/**
 * One life of the server: the real workspace, loop, hub and doors over a simulated disk, clock, model and tools. It starts as the
 * product does, reading and repairing before it listens, and ends at once, or as it should.
 */
import { FaultError, type Log, memoryLog } from "@varve/log";
import { type Clock, type Fault, fault, idMaker } from "@varve/protocol";
import {
  ConnectionDoor,
  createWorkspace,
  Devices,
  type DoorSocket,
  type LiveWorkspace,
  type WorkspaceOptions,
} from "@varve/server/parts";
import { countingIdTexts } from "../fake-ids.ts";
import type { Prng } from "../prng.ts";
import { simulatedPlace } from "../simulated-server.ts";
import type { Disk } from "./disk.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";
import type { Door } from "./network.ts";
import { processClock } from "./process-clock.ts";
import { type ModelWorld, scriptedModels } from "./scripted-model.ts";
import { scriptedTools, type ToolWorld } from "./scripted-tools.ts";
import { Violation } from "./violation.ts";

/** Everything that outlives a process. */
export interface Machine {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly disk: Disk;
  readonly skew: { ms: number };
  readonly models: ModelWorld;
  readonly tools: ToolWorld;
  readonly turnDeadlineMs: number | undefined;
  /** A change to the log as one process sees it, to show that what it breaks is found. */
  readonly tampered: (log: Log) => Log;
  readonly broken: (error: unknown) => void;
}

const answerScale = 10;

export class ServerProcess {
  readonly life: Lifetime = { alive: true };
  readonly clock: Clock;
  readonly boot: string;
  workspace: LiveWorkspace | null = null;
  /** It listens: connections and requests are taken. */
  listens = false;
  closing = false;
  readonly #machine: Machine;
  #devices: Devices | null = null;
  readonly #doors = new Set<ConnectionDoor>();
  /** Requests that wait for their answer, told when the process dies. */
  readonly #asked = new Set<() => void>();

  constructor(machine: Machine, boot: number) {
    this.#machine = machine;
    this.boot = `boot-${boot}`;
    this.clock = processClock(machine.queue, this.life, machine.skew);
  }

  /** Rejects with a `FaultError` when the disk cannot be read; the process ends then, as the product's does. */
  async start(): Promise<void> {
    const { disk, tampered } = this.#machine;
    const log = tampered(await disk.open(this.life));
    this.#devices = await Devices.load({ log: memoryLog(), clock: this.clock, random: (into) => into });
    const workspace = await createWorkspace(this.#options(log));
    this.workspace = workspace;
    await workspace.recoverAll();
    this.listens = true;
  }

  accept(socket: DoorSocket): { readonly door: Door; readonly life: Lifetime } | null {
    const { workspace, listens } = this;
    if (workspace === null || !listens || this.#devices === null) return null;
    const door: ConnectionDoor = new ConnectionDoor(
      { ...socket, close: (code, reason) => socket.close(code, reason) },
      { kind: "token" },
      {
        workspace,
        devices: this.#devices,
        clock: this.clock,
        build: "build",
        boot: this.boot,
        broke: (error) => this.#broke(error),
      },
    );
    this.#doors.add(door);
    return { door, life: this.life };
  }

  /** A request of somebody: null when the process does not answer it any more. */
  ask<T>(act: (workspace: LiveWorkspace) => Promise<T>): Promise<T | null> {
    const { queue, latency } = this.#machine;
    const { workspace } = this;
    if (workspace === null || !this.listens) return Promise.resolve(null);
    return new Promise((resolve) => {
      const lost = (): void => resolve(null);
      this.#asked.add(lost);
      act(workspace).then(
        (answer) => {
          const answered = (): void => {
            this.#asked.delete(lost);
            resolve(answer);
          };
          queue.after(latency.draw(answerScale), { kind: "rest-answer", life: this.life }, answered);
        },
        (error: unknown) => this.#broke(error),
      );
    });
  }

  /** It ends this moment: what is in memory is gone. */
  kill(): void {
    this.life.alive = false;
    this.listens = false;
    for (const lost of this.#asked) lost();
    this.#asked.clear();
  }

  /** Turns end at a step boundary where that comes soon; resolves when all is closed. */
  async shutDown(graceMs: number): Promise<void> {
    this.closing = true;
    this.listens = false;
    await this.workspace?.close(graceMs);
    for (const door of this.#doors) door.end(1013, "shutting-down");
  }

  #broke(error: unknown): void {
    this.#machine.broken(error);
  }

  #options(log: Log): WorkspaceOptions {
    const { queue, prng, models, tools, latency, turnDeadlineMs } = this.#machine;
    return {
      log,
      clock: this.clock,
      ids: idMaker(countingIdTexts(this.boot)),
      random: () => prng.float(),
      giveWay: () => queue.pause(latency.draw(1), { kind: "give-way", life: this.life }),
      models: scriptedModels(models, this.life),
      tools: scriptedTools(tools, this.life),
      ...simulatedPlace,
      boot: this.boot,
      defaultModel: async () => "sim/none",
      limits: { dayMoneyMax: () => null, setDayMoneyMax: async () => null, stepsMax: () => 40 },
      broke: (error) => this.#broke(error),
      ...(turnDeadlineMs !== undefined && { turnDeadlineMs }),
    };
  }
}

/** A start that failed because of the world; anything else is a violation. */
export function startFault(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault;
  throw error instanceof Violation ? error : new Violation("start", String(error));
}

export const unreachableServer = fault("log-unavailable", "Nobody answers.", "Try again.");
