/**
 * One run: a plan's acts are carried out at their times, every event is followed by the checks, then the faults end and everything
 * must come to rest within bounded time, with a further message answered on each tab.
 */
import { createSyncClient, memoryOutbox } from "@varve/client";
import { idMaker, type TabId } from "@varve/protocol";
import { countingIdTexts } from "../fake-ids.ts";
import { createPrng } from "../prng.ts";
import { answerOne, perform } from "./acts.ts";
import { atRest, EventQueue } from "./event-queue.ts";
import { PageJudge } from "./page-judge.ts";
import type { Plan } from "./plan.ts";
import { processClock } from "./process-clock.ts";
import { mismatches, storedProblem, whatIsLeft } from "./rest.ts";
import { unreachableServer } from "./server-process.ts";
import { must, Violation } from "./violation.ts";
import { type Tampering, World } from "./world.ts";

/** Simulated time for coming to rest: back-off, silence on a half-open wire and the slowest stop, each at its longest. */
const restMs = 150_000;
/** Simulated time in which a further message is answered. */
const answerMs = 60_000;
const lookMs = 500;
/** The longest that an act takes to arrive. */
const lastActMs = 4_000;
/** More events than any run of a plan has: beyond it something feeds itself. */
const eventsMax = 60_000;
/** The dear checks come after so many events. */
const dearEvery = 40;

export interface RunResult {
  readonly seed: number;
  readonly events: number;
  readonly hash: number;
  readonly simulatedMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly acts: ReadonlyMap<string, number>;
  readonly rows: number;
  readonly restores: number;
  readonly boots: number;
  /** Null: all was well. */
  readonly failure: { readonly rule: string; readonly message: string; readonly event: number } | null;
}

export async function runPlan(plan: Plan, tampering: Tampering = {}): Promise<RunResult> {
  await warmUp();
  const world = new World(plan, tampering);
  const acts = new Map<string, number>();
  let failure: RunResult["failure"] = null;
  try {
    await new Run(world, acts).all();
  } catch (error) {
    const violation = error instanceof Violation ? error : new Violation("run", told(error));
    failure = { rule: violation.rule, message: violation.message, event: world.queue.count };
  } finally {
    for (const device of world.devices) device.close();
    world.server?.kill();
    await world.storage.remove();
  }
  const { queue, disk, restores, boots } = world;
  const rows = [...disk.truth.logs.values()].reduce((sum, log) => sum + log.rows.length, 0);
  const { count, hash, now, counts } = queue;
  return {
    seed: plan.seed,
    events: count,
    hash,
    simulatedMs: now,
    counts,
    acts,
    rows,
    restores,
    boots,
    failure,
  };
}

const told = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

let isWarm = false;
/** Code that a client loads when it first needs it is there before the world begins: loading takes the time of the real machine. */
async function warmUp(): Promise<void> {
  if (isWarm) return;
  const life = { alive: true };
  const queue = new EventQueue(createPrng(0));
  const client = createSyncClient({
    connect: () => ({ send: () => undefined, close: () => undefined }),
    rest: async () => ({ ok: false, error: unreachableServer }),
    clock: processClock(queue, life, { ms: 0 }),
    newId: () => idMaker(countingIdTexts()).chunk(),
    random: () => 0,
    outbox: memoryOutbox(),
    identity: { client: "none" },
  });
  await client.open(idMaker(countingIdTexts()).tab()).checkSync();
  client.close();
  isWarm = true;
}

class Run {
  readonly #world: World;
  readonly #judge: PageJudge;
  readonly #acts: Map<string, number>;

  constructor(world: World, acts: Map<string, number>) {
    this.#world = world;
    this.#judge = new PageJudge(world);
    this.#acts = acts;
  }

  async all(): Promise<void> {
    await this.#begin();
    await this.#play();
    await this.#comeToRest();
    await this.#answers();
    await this.#comeToRest();
    await this.#compare();
    const found = await this.#done(storedProblem(this.#world));
    must(found === null, "rows", () => `the log differs from what was written: ${found}`);
  }

  async #begin(): Promise<void> {
    const world = this.#world;
    world.boot();
    await this.#until("the server is up", restMs, () => world.server?.listens === true);
    await this.#done(world.createTabs());
  }

  /** Lets events happen until a promise of the world has settled. */
  async #done<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    await this.#until("a request is answered", restMs, () => settled);
    return promise;
  }

  async #play(): Promise<void> {
    const { queue, plan, life } = this.#world;
    let [at, left] = [0, plan.steps.length];
    for (const step of plan.steps) {
      at += step.afterMs;
      queue.after(at, { kind: `act ${step.act}`, life }, () => {
        left -= 1;
        this.#acts.set(step.act, (this.#acts.get(step.act) ?? 0) + 1);
        perform(this.#world, step);
      });
    }
    while (left > 0) await this.#step();
  }

  /** The faults end: the disk writes, the wires carry, people answer, every page is open, the model says little. */
  async #comeToRest(): Promise<void> {
    const world = this.#world;
    world.mood.calm = true;
    world.latency.wild = false;
    world.disk.heal();
    world.network.heal();
    for (const device of world.devices) device.open();
    let left: string | null = "nobody has looked";
    let looks = 0;
    // What somebody did last is on its way still.
    await this.#until("what was done last has arrived", lastActMs + 1, this.#passed(lastActMs));
    const look = (): void => {
      looks += 1;
      this.#tend(looks);
      left = whatIsLeft(world);
      if (left !== null) world.queue.after(lookMs, { kind: "look", life: world.life }, look);
    };
    look();
    await this.#until(
      () => `it comes to rest: ${left}`,
      restMs,
      () => left === null,
    );
    this.#judge.lookAtAll();
  }

  /** What a person does who wants to see the end: untrashes, answers, sends again, scrolls down. */
  #tend(looks: number): void {
    const world = this.#world;
    for (const tab of world.disk.truth.tabs.values()) {
      if (tab.trashedAt === null) continue;
      void world.ask((workspace) => workspace.patch(tab.id, { trashed: false }));
    }
    for (const { page } of world.devices) {
      if (page === null) continue;
      for (const [tab, { handle }] of page.shown) {
        const snapshot = handle.snapshot();
        void answerOne({ page, tab, snapshot, pick: 0 });
        if (!snapshot.window.attached && looks % 4 === 0) void handle.toEnd();
      }
    }
  }

  /** A further message on each tab is answered. */
  async #answers(): Promise<void> {
    const world = this.#world;
    const asked: { readonly tab: TabId; readonly id: string }[] = [];
    for (const { page } of world.devices) {
      for (const tab of page?.shown.keys() ?? []) {
        if (page === null || asked.some((one) => one.tab === tab)) continue;
        const id = page.send(tab, "and now?", "steer");
        if (id !== null) asked.push({ tab, id });
      }
    }
    const unanswered = () => asked.find(({ tab, id }) => !isAnswered(world, tab, id));
    await this.#until(
      () => `the further message on ${unanswered()?.tab} is answered`,
      answerMs,
      () => unanswered() === undefined,
    );
  }

  /** Every window is compared with the server's rows, by digest, as a page does on demand. */
  async #compare(): Promise<void> {
    for (const { name, page } of this.#world.devices) {
      for (const [tab, { handle }] of page?.shown ?? []) {
        const { state, error } = await this.#done(handle.checkSync());
        must(state === "same", "digest", () => `${name} on ${tab}: the window is ${state} ${error?.message ?? ""}`);
      }
    }
    must(mismatches(this.#world) === 0, "digest", () => "the server has counted differences");
  }

  async #until(what: string | (() => string), ms: number, condition: () => boolean): Promise<void> {
    const { queue } = this.#world;
    // What was begun outside of an event goes as far as it can by itself.
    await this.#settled();
    const end = queue.now + ms;
    while (!condition()) {
      const name = (): string => (typeof what === "string" ? what : what());
      must(queue.now <= end, "liveness", () => `within ${ms} ms it never comes true that ${name()}`);
      await this.#step();
    }
  }

  #passed(ms: number): () => boolean {
    const { queue, life } = this.#world;
    let passed = false;
    queue.after(ms, { kind: "look", life }, () => {
      passed = true;
    });
    return () => passed;
  }

  async #settled(): Promise<void> {
    do await atRest();
    while (this.#world.storage.isBusy);
  }

  async #step(): Promise<void> {
    const world = this.#world;
    const went = await world.queue.step();
    if (world.storage.isBusy) await this.#settled();
    must(went, "liveness", () => "nothing is left that could happen");
    if (world.broken !== null) throw world.broken;
    this.#judge.look();
    if (world.queue.count % dearEvery === 0) this.#judge.lookAtAll();
    must(world.queue.count < eventsMax, "liveness", () => "events go on without end");
  }
}

function isAnswered(world: World, tab: TabId, id: string): boolean {
  const { truth } = world.disk;
  const logId = truth.tabs.get(tab)?.logId;
  if (logId === undefined) return false;
  const rows = truth.rows(logId);
  const at = rows.findIndex((row) => row.id === id);
  const behind = at < 0 ? [] : rows.slice(at);
  const ended = behind.some((row) => row.type === "system" && row.data.kind === "turn-end");
  return ended && behind.some((row) => row.role === "assistant" && row.type === "text");
}
