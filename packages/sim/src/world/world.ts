/**
 * A world: one server machine, some devices, the wires between them, and what befalls them. Everything that happens is an event of
 * one queue, so a seed names the whole of it.
 */
import type { OutboxStore } from "@varve/client";
import type { Log } from "@varve/log";
import { type ChunkId, isFault, parseTabId, type TabId } from "@varve/protocol";
import type { LiveWorkspace } from "@varve/server/parts";
import { createPrng, type Prng } from "../prng.ts";
import { Disk } from "./disk.ts";
import { EventQueue, type Lifetime } from "./event-queue.ts";
import { FrameJudge } from "./frame-judge.ts";
import { Latency } from "./latency.ts";
import { Network } from "./network.ts";
import { Device } from "./page.ts";
import type { Plan } from "./plan.ts";
import { processClock } from "./process-clock.ts";
import type { ModelWorld } from "./scripted-model.ts";
import { type Machine, ServerProcess, startFault } from "./server-process.ts";
import { memoryStorage, type Storage, sqliteStorage } from "./storage.ts";
import { must, Violation } from "./violation.ts";

export interface Tampering {
  readonly log?: (log: Log) => Log;
  readonly store?: (store: OutboxStore) => OutboxStore;
}

const closingGraceMs = 3_000;

export class World {
  readonly plan: Plan;
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly storage: Storage;
  readonly disk: Disk;
  readonly network: Network;
  readonly judge: FrameJudge;
  readonly devices: readonly Device[];
  readonly tabs: TabId[] = [];
  readonly skew = { ms: 0 };
  readonly mood = { calm: false };
  /** The world itself: it never dies. */
  readonly life: Lifetime = { alive: true };
  server: ServerProcess | null = null;
  boots = 0;
  /** An older copy of the disk has come back so often. */
  restores = 0;
  /** Messages that an older copy of the disk does not know: nobody has to show them. */
  readonly forgiven = new Set<ChunkId>();
  broken: Violation | null = null;
  readonly #machine: Machine;
  readonly #runs = new Set<string>();

  constructor(plan: Plan, tampering: Tampering = {}) {
    this.plan = plan;
    const prng = createPrng(plan.seed ^ 0x5eed);
    this.prng = prng;
    this.queue = new EventQueue(prng.fork());
    this.latency = new Latency(prng.fork());
    this.storage =
      plan.storage === "memory" ? memoryStorage() : sqliteStorage(processClock(this.queue, this.life, this.skew));
    const { queue, latency, storage } = this;
    this.disk = new Disk({ queue, prng: prng.fork(), latency, storage, broken: this.broke });
    this.judge = new FrameJudge(() => this.disk.truth);
    this.network = new Network({
      queue,
      prng: prng.fork(),
      latency,
      accept: (socket) => this.server?.accept(socket) ?? null,
      sent: (text) => this.guard(() => this.judge.sent(text)),
    });
    const ports = {
      queue,
      prng: prng.fork(),
      latency,
      network: this.network,
      ask: <T>(act: (workspace: LiveWorkspace) => Promise<T>) => this.ask(act),
      tampered: tampering.store ?? ((store: OutboxStore) => store),
    };
    this.devices = Array.from({ length: plan.devices }, (_, at) => new Device("ABCD"[at] ?? "E", ports));
    this.#machine = this.#machineOf(prng, tampering);
  }

  /** A check that fails ends the run, wherever in the product's own calls it was made. */
  guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broke(error);
    }
  }

  readonly broke = (error: unknown): void => {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.broken ??= error instanceof Violation ? error : new Violation("broke", told);
  };

  ask<T>(act: (workspace: LiveWorkspace) => Promise<T>): Promise<T | null> {
    return this.server === null ? Promise.resolve(null) : this.server.ask(act);
  }

  // --- the server machine ------------------------------------------------------------------------------------------

  boot(): void {
    this.boots += 1;
    const server = new ServerProcess(this.#machine, this.boots);
    this.server = server;
    server.start().catch((error: unknown) => {
      this.guard(() => startFault(error));
      if (this.server !== server) return;
      this.#down("nothing");
      this.#bootIn(1_500);
    });
  }

  /** The process dies this moment; it comes back in a while. */
  crash(options: { readonly downMs: number; readonly loses: "nothing" | "the last write" | "all" }): void {
    if (this.server === null) return;
    this.#down(options.loses);
    this.#bootIn(options.downMs);
  }

  /** It is asked to end, and comes back when it has. */
  restart(downMs: number): void {
    const { server } = this;
    if (server === null || !server.listens) return;
    server.shutDown(closingGraceMs).then(() => {
      if (this.server !== server) return;
      this.#down("nothing");
      this.#bootIn(downMs);
    }, this.broke);
  }

  /** It dies, and an older copy of its disk comes back. */
  async restore(downMs: number, keepsJournal: boolean): Promise<void> {
    if (this.server === null || !this.storage.hasBackup) return;
    this.#down("nothing");
    const before = this.disk.truth;
    await this.disk.restore(keepsJournal);
    for (const [id, { state }] of before.inbox) {
      // Forgotten by the disk, or ended in a time that never was.
      const isBack = this.disk.truth.inbox.get(id);
      if (isBack === undefined || state === "sealed" || state === "dropped") this.forgiven.add(id);
    }
    for (const device of this.devices) device.leave((tab) => !this.disk.truth.tabs.has(tab));
    this.restores += 1;
    this.#bootIn(downMs);
  }

  #down(loses: "nothing" | "the last write" | "all"): void {
    this.server?.kill();
    this.server = null;
    this.network.serverDied();
    void this.disk.close(loses);
  }

  #bootIn(downMs: number): void {
    this.queue.after(downMs, { kind: "boot", life: this.life }, () => {
      if (this.server === null) this.boot();
    });
  }

  // --- tabs --------------------------------------------------------------------------------------------------------

  /** Every tab has a model of its own name, so that its requests are told apart. */
  async createTabs(): Promise<void> {
    for (let at = 0; at < this.plan.tabs; at += 1) {
      const id = parseTabId(`tab-${at}`);
      if (id === null) continue;
      const permissions = this.plan.asks && at % 2 === 0 ? "ask" : "allow";
      const made = await this.ask((workspace) =>
        workspace.create({ id, cwd: "/project", model: `sim/tab-${at}`, permissions }),
      );
      must(made !== null && !isFault(made), "begin", () => `tab ${at} could not be made: ${JSON.stringify(made)}`);
      this.tabs.push(id);
    }
    for (const [at, device] of this.devices.entries()) {
      for (const [which, tab] of this.tabs.entries()) if (which === 0 || (at + which) % 2 === 0) device.show(tab);
      device.open();
    }
  }

  /** A tool begins to run. Its call is sealed, has no result, and was never begun before. */
  #ran(tab: TabId, callId: string): void {
    const { truth } = this.disk;
    const logId = truth.tabs.get(tab)?.logId;
    must(logId !== undefined, "S5", () => `a tool of the unknown tab ${tab} runs`);
    const sealed = truth.find(logId, callId, (log) => log.calls) !== null;
    must(sealed, "S5", () => `call ${callId} runs before it is sealed`);
    const answered = truth.find(logId, callId, (log) => log.results) !== null;
    must(!answered, "S5", () => `call ${callId} runs although it has its result`);
    const key = `${this.restores}/${callId}`;
    must(!this.#runs.has(key), "S5", () => `call ${callId} runs twice`);
    this.#runs.add(key);
  }

  #machineOf(prng: Prng, tampering: Tampering): Machine {
    const { queue, latency, disk, skew, mood } = this;
    const models: ModelWorld = {
      queue,
      prng: prng.fork(),
      latency,
      mood,
      calls: { made: 0 },
      tabsOf: (model) => [...disk.truth.tabs.values()].filter((tab) => tab.model === model).length,
      broken: this.broke,
    };
    return {
      queue,
      prng: prng.fork(),
      latency,
      disk,
      skew,
      models,
      tools: {
        queue,
        prng: prng.fork(),
        latency,
        mood,
        ran: (tab, callId) => this.guard(() => this.#ran(tab, callId)),
      },
      turnDeadlineMs: this.plan.turnDeadlineMs,
      tampered: tampering.log ?? ((log) => log),
      broken: this.broke,
    };
  }
}
