/**
 * The disk of a simulated machine. Every act on the log waits its turn twice: until it is carried out, and until its answer is
 * there; a process may die between the two. Writes can be refused, and their answers lost. What was really written is told to
 * the oracle at once.
 */
import type { Batch, CommitOutcome, Fence, Journal, JournalEntry, Log, LogTarget, NewTab, TabChange } from "@varve/log";
import { FaultError } from "@varve/log";
import { type Fault, fault, isFault, type TabId } from "@varve/protocol";
import type { Prng } from "../prng.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";
import type { Storage, Written } from "./storage.ts";
import { Truth } from "./truth.ts";
import { must } from "./violation.ts";

const readsScale = 1;
const writesScale = 3;

export interface DiskPorts {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly storage: Storage;
  /** The oracle found a write that must not be: nothing that comes of it is of interest any more. */
  readonly broken: (error: unknown) => void;
}

/** How a write ends: done, refused by the disk, or done with its answer lost. */
type Fate = "done" | "refused" | "lost";

export class Disk {
  readonly #ports: DiskPorts;
  truth = new Truth();
  #backup: Truth | null = null;
  /** Nothing can be written until then. */
  fullUntil = 0;
  /** Nothing can be read until then. */
  unreadableUntil = 0;
  /** The answers of so many commits to come are lost. */
  answersToLose = 0;
  /** Called when so many more writes have been carried out, before the answer: the machine dies at a write. */
  atWrite: {
    left: number;
    readonly strike: (when: "before" | "after") => void;
    readonly when: "before" | "after";
  } | null = null;
  #journal: WatchedJournal | null = null;

  constructor(ports: DiskPorts) {
    this.#ports = ports;
  }

  /** The log as a process of this lifetime sees it. */
  async open(life: Lifetime): Promise<Log> {
    const log = await this.#ports.storage.open();
    this.#journal = new WatchedJournal(log.journal);
    return this.#gated(log, { life, journal: this.#journal });
  }

  /** The process is gone; of what it wrote to the side file last, some may be gone with it. */
  async close(loses: "nothing" | "the last write" | "all"): Promise<void> {
    if (loses !== "the last write") this.#journal?.settle();
    if (loses === "all") this.#journal?.clear();
    this.#journal = null;
    await this.#ports.storage.close();
  }

  backUp(): void {
    this.#backup = this.truth.copy();
    this.#ports.storage.backUp();
  }

  /** While no process has it open. */
  async restore(keepsJournal: boolean): Promise<boolean> {
    if (this.#backup === null) return false;
    await this.#ports.storage.restore(keepsJournal);
    this.truth = this.#backup;
    this.#backup = this.truth.copy();
    return true;
  }

  heal(): void {
    this.fullUntil = 0;
    this.unreadableUntil = 0;
    this.answersToLose = 0;
    this.atWrite = null;
  }

  #gated(log: Log, process: { readonly life: Lifetime; readonly journal: Journal }): Log {
    const { life, journal } = process;
    const reads = new Set<PropertyKey>(readNames);
    const writes = this.#writes(log, life);
    const own: Readonly<Record<string, unknown>> = { ...writes, journal };
    return new Proxy(log, {
      get: (target, name) => {
        if (typeof name === "string" && Object.hasOwn(own, name)) return own[name];
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (!reads.has(name)) return value.bind(target);
        return (...args: readonly unknown[]) => this.#read(life, name, () => Reflect.apply(value, target, args));
      },
    });
  }

  /** The answer tells the disk as it was when it was asked, or as it is when the answer comes. */
  async #read(life: Lifetime, name: PropertyKey, act: () => Promise<unknown>): Promise<unknown> {
    const { prng, queue, latency } = this.#ports;
    const early = prng.chance(0.5) ? act() : null;
    await queue.pause(latency.draw(readsScale), { kind: "disk-read", life });
    if (queue.now < this.unreadableUntil) {
      if (name === "page") return unreadable();
      throw new FaultError(unreadable());
    }
    return early ?? act();
  }

  #writes(log: Log, life: Lifetime) {
    const inFlight = new Set<TabId>();
    return {
      commit: async (fence: Fence, batch: Batch): Promise<CommitOutcome> => {
        const twice = inFlight.has(fence.tabId);
        await this.#judged(() => must(!twice, "one commit", () => `two commits of ${fence.tabId} at once`));
        inFlight.add(fence.tabId);
        const outcome = await this.#commit(log, life, { fence, batch });
        inFlight.delete(fence.tabId);
        return outcome;
      },
      createTab: (tab: NewTab, target?: LogTarget) =>
        this.#write(life, {
          act: (on) => on.createTab(tab, target),
          on: log,
          wrote: (entry) => this.truth.made(entry, target),
        }),
      changeTab: (id: TabId, change: TabChange) =>
        this.#write(life, {
          act: (on) => on.changeTab(id, change),
          on: log,
          wrote: (entry) => this.truth.changed(entry),
        }),
      claim: (id: TabId, nowMs: number) =>
        this.#write(life, {
          act: (on) => on.claim(id, nowMs),
          on: log,
          wrote: (claim) => {
            if (claim !== null) this.truth.claimed(claim.tab);
          },
        }),
      point: (fence: Fence, target: LogTarget, nowMs: number) =>
        this.#write(life, {
          act: (on) => on.point(fence, target, nowMs),
          on: log,
          wrote: (entry) => this.truth.pointed(entry, target),
        }),
    };
  }

  async #commit(
    log: Log,
    life: Lifetime,
    { fence, batch }: { readonly fence: Fence; readonly batch: Batch },
  ): Promise<CommitOutcome> {
    const fate = await this.#carried(life);
    if (fate === "refused") return { kind: "failed", fault: diskFull() };
    const outcome = await log.commit(fence, batch);
    if (outcome.kind === "committed") {
      this.#keep({ act: (on) => on.commit(fence, batch) });
      await this.#judged(() => this.truth.committed(fence, batch, outcome));
    }
    await this.#answered(life);
    return fate === "lost" ? { kind: "failed", fault: unreadable() } : outcome;
  }

  async #write<T>(
    life: Lifetime,
    write: {
      readonly act: (log: Log) => Promise<T | Fault>;
      readonly on: Log;
      readonly wrote: (answer: T) => void;
    },
  ): Promise<T | Fault> {
    if ((await this.#carried(life, false)) === "refused") return diskFull();
    const answer = await write.act(write.on);
    if (!isFault(answer)) {
      this.#keep({ act: write.act });
      // A fault is told apart by its mark, which nothing else that a log answers has.
      await this.#judged(() => write.wrote(answer as T));
    }
    await this.#answered(life);
    return answer;
  }

  async #judged(check: () => void): Promise<void> {
    try {
      check();
    } catch (error) {
      this.#ports.broken(error);
      await new Promise(() => undefined);
    }
  }

  #keep(written: Written): void {
    this.#ports.storage.wrote(written);
  }

  async #carried(life: Lifetime, mayLose = true): Promise<Fate> {
    const { queue, latency } = this.#ports;
    await queue.pause(latency.draw(writesScale), { kind: "disk-write", life });
    await this.#struck(life, "before");
    if (queue.now < this.fullUntil) return "refused";
    if (!mayLose || this.answersToLose === 0) return "done";
    this.answersToLose -= 1;
    return "lost";
  }

  async #answered(life: Lifetime): Promise<void> {
    const { queue, latency } = this.#ports;
    await this.#struck(life, "after");
    await queue.pause(latency.draw(writesScale), { kind: "disk-answer", life });
  }

  /** Dies here when it is to: what comes behind never happens. */
  async #struck(life: Lifetime, when: "before" | "after"): Promise<void> {
    const trap = this.atWrite;
    if (trap === null || trap.when !== when) return;
    trap.left -= 1;
    if (trap.left > 0) return;
    this.atWrite = null;
    trap.strike(when);
    if (!life.alive) await new Promise(() => undefined);
  }
}

const readNames = [
  "tabs",
  "tab",
  "logsOf",
  "page",
  "row",
  "rowById",
  "message",
  "unfinished",
  "tabsWithWaiting",
  "billEntries",
  "billSums",
  "formerParents",
  "requestBefore",
  "setting",
  "settings",
] as const satisfies readonly (keyof Log)[];

const diskFull = (): Fault => fault("disk-full", "The disk is full.", "Nothing was written; make room and try again.");
const unreadable = (): Fault => fault("log-unavailable", "The disk does not answer.", "Try again.");

/** The side file of open blocks, whose newest write has not reached the disk yet. */
class WatchedJournal implements Journal {
  readonly #journal: Journal;
  #last: readonly JournalEntry[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
  }
  write(entries: readonly JournalEntry[]): void {
    this.settle();
    this.#last = [...entries];
  }
  settle(): void {
    if (this.#last.length > 0) this.#journal.write(this.#last);
    this.#last = [];
  }
  clear(tabId?: TabId): void {
    this.settle();
    for (const tab of tabId === undefined ? this.#journal.tabsWithBlocks() : [tabId]) this.#journal.clear(tab);
  }
  blocksOf(tabId: TabId) {
    this.settle();
    return this.#journal.blocksOf(tabId);
  }
  tabsWithBlocks() {
    this.settle();
    return this.#journal.tabsWithBlocks();
  }
  faults(): number {
    return this.#journal.faults();
  }
}
