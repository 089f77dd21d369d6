/**
 * Keeps an idle tab's newest cache entry alive: the last body once more, without output, shortly before the entry expires.
 *
 * Off unless a person turned it on for the tab, within their caps, never while a turn is open, and never a body of its own: a
 * fold that does not give the very bytes that were sent is not sent. When it is due the rows alone say, so a restart goes on.
 */
import {
  bookUsage,
  logUpTo,
  type ModelFailure,
  prefixInForce,
  type ResolvedModel,
  type Spending,
  usageData,
} from "@varve/agent";
import type { TabEntry } from "@varve/log";
import {
  type Clock,
  type ContextBody,
  type Fault,
  fault,
  type IdMaker,
  isFault,
  type NewRow,
  noTurn,
  type StoredRow,
  type SystemData,
  type TabId,
  type Timer,
} from "@varve/protocol";
import { foldAt, requestOptions, type WireRequest } from "@varve/wire";
import type { Sent } from "../context/log-reading.ts";
import { effortAt } from "../context/sent-request.ts";
import { type WarmPlan, warmPlan } from "../context/warm-plan.ts";
import { wayOf } from "../context/way.ts";
import { blobsFor } from "./blobs-for.ts";
import type { ReadLog, TabActor } from "./tab-actor.ts";
import { optionsOf } from "./tab-options.ts";
import { effortOf } from "./tab-record.ts";

export interface KeepWarmPorts {
  readonly actor: TabActor;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly resolve: (model: string) => Promise<ResolvedModel | Fault>;
  readonly spending: () => Spending;
  readonly broke: (error: unknown) => void;
}

/** A refresh that failed is tried again so often, after this long, as long as the entry lives. */
const retriesMax = 2;
const retryMs = 5_000;

type Warm = ContextBody["warm"];
interface Begun {
  readonly built: WireRequest;
  readonly model: ResolvedModel;
  /** The step whose body it is. */
  readonly entry: Sent;
}

export class KeepWarm {
  readonly #ports: KeepWarmPorts;
  readonly #gone = new AbortController();
  #timer: Timer | null = null;
  #isRunning = false;
  #failures = 0;
  #failure: string | null = null;

  constructor(ports: KeepWarmPorts) {
    this.#ports = ports;
  }

  /** The tab came to rest, or something changed while it was: when it is due is found out anew. Cheap where it is off. */
  arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#failures = 0;
    this.#failure = null;
    if (optionsOf(this.#ports.actor.core.tab.options).keepWarm?.on !== true) return;
    this.#run(() => this.#schedule());
  }

  async state(log: ReadLog): Promise<Warm> {
    const { entry: _, state, nextAt, ...rest } = await this.#plan(log);
    const isIdle = !this.#ports.actor.isRunning && !this.#isRunning && this.#failures <= retriesMax;
    return {
      ...rest,
      state: this.#isRunning ? "running" : state,
      nextAt: isIdle ? nextAt : null,
      ...(this.#failure !== null && { failure: this.#failure }),
    };
  }

  close(): void {
    this.#timer?.cancel();
    this.#gone.abort();
  }

  async #plan({ rows, reading }: ReadLog): Promise<WarmPlan> {
    const { actor, clock, resolve, spending } = this.#ports;
    const { tab } = actor.core;
    const options = optionsOf(tab.options);
    const model = await resolve(tab.model);
    const effort = effortOf(tab.effort);
    const frozen = prefixInForce(rows)?.data ?? null;
    const way = isFault(model) ? null : wayOf(model, { effort, ttl: options.cacheTtl ?? "5m" }, frozen);
    const { tab: ofTab, day } = spending();
    return warmPlan({
      reading,
      way,
      scopeHash: way === null || frozen === null ? "" : way.scopeHash(frozen),
      takesNoOutput: !isFault(model) && frozen !== null && takesNoOutput(requestOptions(frozen, model.target, effort)),
      options: options.keepWarm,
      now: clock.now(),
      isOverLimit: [ofTab, day].some(({ price, max }) => max !== null && price >= max),
    });
  }

  async #schedule(): Promise<void> {
    const { actor, clock } = this.#ports;
    const log = await actor.readLog();
    if (isFault(log) || actor.isRunning || actor.core.tab.trashedAt !== null || this.#gone.signal.aborted) return;
    const { nextAt } = await this.#plan(log);
    if (nextAt === null || this.#isRunning) return;
    this.#timer?.cancel();
    this.#timer = clock.setTimer(Math.max(0, nextAt - clock.now()), () => this.#run(() => this.#refresh()));
  }

  async #refresh(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const outcome = await this.#refreshOnce().finally(() => {
      this.#isRunning = false;
    });
    if (this.#gone.signal.aborted) return;
    // A timer may come a moment early: then nothing was due yet.
    if (outcome === "nothing") return this.#schedule();
    if (outcome === "done") {
      this.#failures = 0;
      this.#failure = null;
      return this.#schedule();
    }
    this.#failures += 1;
    this.#failure = outcome.message;
    if (this.#failures > retriesMax) return;
    this.#timer = this.#ports.clock.setTimer(retryMs, () => this.#run(() => this.#refresh()));
  }

  async #refreshOnce(): Promise<"done" | "nothing" | Pick<ModelFailure, "message">> {
    const { actor, clock } = this.#ports;
    const begun = await actor.act(() => this.#begin());
    if (isFault(begun)) return begun;
    if (begun === null) return "nothing";
    const { built, model, entry } = begun;
    const startedAt = clock.now();
    const generated = await model.generate({
      ...built.options,
      prompt: built.messages,
      maxOutputTokens: 0,
      abortSignal: this.#gone.signal,
    });
    if (generated.kind === "cancelled") return "nothing";
    if (generated.kind === "failed") return generated.failure;
    const problem = await actor.act(async () => {
      const rows = await actor.core.load();
      if (isFault(rows)) return rows;
      const usage = bookUsage({
        usage: usageData(generated.usage, model.info.id),
        // The body is that step's, whatever was sent to other models since.
        rows: logUpTo(rows, entry.usageSeq ?? entry.seq),
        place: { turnId: noTurn, step: 0 },
        model,
        startedAt,
        guard: { kind: "extends" },
        purpose: "warm",
      });
      return actor.sealQuietly([this.#row(usage)]);
    });
    return problem ?? "done";
  }

  /** Inside the mailbox: the `request` row of a refresh that is due, and its body. Null: it is not, or not any more. */
  async #begin(): Promise<Begun | Fault | null> {
    const { actor, clock, resolve } = this.#ports;
    if (actor.isRunning || actor.core.tab.trashedAt !== null || this.#gone.signal.aborted) return null;
    const rows = await actor.core.load();
    if (isFault(rows)) return rows;
    const { entry, nextAt } = await this.#plan({ rows, reading: actor.core.reading() });
    if (entry === null || nextAt === null || nextAt > clock.now()) return null;
    const model = await resolve(entry.model);
    if (isFault(model)) return model;
    const built = await this.#bodyOf(rows, entry, model);
    if (isFault(built)) return built;
    const { model: name, scopeHash, tailHash, ttl, chars } = entry;
    const request: SystemData = {
      kind: "request",
      model: name,
      scopeHash,
      tailHash,
      purpose: "warm",
      ...(ttl !== null && { ttl }),
      ...(chars !== null && { chars }),
    };
    const problem = await actor.sealQuietly([this.#row(request)]);
    return problem ?? { built, model, entry };
  }

  async #bodyOf(rows: readonly StoredRow[], entry: Sent, model: ResolvedModel): Promise<WireRequest | Fault> {
    const before = rows.slice(0, entry.seq - 1);
    const blobs = await blobsFor(this.#ports.actor.core.ports.log.blobs, before);
    const built = foldAt({ rows, target: model.target, effort: effortAt(before), blobs }, entry.seq);
    if (isFault(built) || built.tailHash === entry.tailHash) return built;
    return fault("internal", "The log does not give the bytes that were sent.");
  }

  #row(data: SystemData): NewRow {
    const { ids, clock } = this.#ports;
    return {
      id: ids.chunk(),
      turnId: noTurn,
      step: 0,
      role: "system",
      type: "system",
      data,
      createdAt: clock.now(),
    };
  }

  #run(act: () => Promise<void>): void {
    act().catch((error: unknown) => this.#ports.broke(error));
  }
}

/** A budget for thinking is part of the cache key, and a body with one is refused without output. */
function takesNoOutput({ providerOptions }: ReturnType<typeof requestOptions>): boolean {
  return Object.values(providerOptions ?? {}).every(({ thinking }) => {
    const type = typeof thinking === "object" && thinking !== null && "type" in thinking ? thinking.type : null;
    return type !== "enabled";
  });
}

/** Tabs that want an owner right at the start, for it alone knows when a refresh is due. */
export const keptWarm = (entries: ReadonlyMap<TabId, TabEntry>): readonly TabId[] =>
  [...entries.values()].flatMap(({ id, options, trashedAt }) =>
    trashedAt === null && optionsOf(options).keepWarm?.on === true ? [id] : [],
  );
