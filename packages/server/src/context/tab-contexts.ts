/** Acts of people on a tab's context: looking at it, telling and rebuilding, looking ahead, compacting, looking back. */
import {
  contextChanges,
  freshPrefix,
  prefixInForce,
  type ResolvedModel,
  rebuildRows,
  type Spending,
  type TabContext,
  type TurnPorts,
  tellRows,
} from "@varve/agent";
import {
  type CacheTtl,
  type ContextBody,
  type Fault,
  fault,
  isFault,
  type NewRow,
  noTurn,
  type PreviewBody,
  type SentRequestBody,
  type StoredRow,
  type TabId,
} from "@varve/protocol";
import { targetUnder, type WireTarget } from "@varve/wire";
import { outcomeFault } from "../workspace/act-faults.ts";
import { blobsFor } from "../workspace/blobs-for.ts";
import { KeepWarm } from "../workspace/keep-warm.ts";
import type { TabActor } from "../workspace/tab-actor.ts";
import { optionsOf } from "../workspace/tab-options.ts";
import { effortOf } from "../workspace/tab-record.ts";
import { tabContext, turnPorts, type WorkspaceOptions } from "../workspace/workspace-options.ts";
import { contextBody } from "./context-body.ts";
import type { ContextActs, PreviewAsked } from "./context-contract.ts";
import { forecast, type Ground, previewOf } from "./forecast.ts";
import { sentAt, sentRequest } from "./sent-request.ts";
import { wayOf } from "./way.ts";

export interface TabContextsPorts {
  readonly options: WorkspaceOptions;
  readonly spending: (tab: TabId) => Spending;
  /** Runs an act on the owner of a tab, which is opened for it where it is not. */
  readonly open: <T>(tab: TabId, act: (actor: TabActor) => Promise<T | Fault>) => Promise<T | Fault>;
}

interface OpenTab {
  readonly actor: TabActor;
  readonly warm: KeepWarm;
  readonly context: () => TabContext;
  readonly turnPorts: () => TurnPorts;
}

export class TabContexts implements ContextActs {
  readonly #ports: TabContextsPorts;
  readonly #warm = new Map<TabId, KeepWarm>();
  #closed = false;

  constructor(ports: TabContextsPorts) {
    this.#ports = ports;
  }

  /** The tab came to rest, or its fields changed. */
  rested(actor: TabActor): void {
    if (actor.isRunning || this.#closed) return;
    this.#warmOf(actor).arm();
  }

  /** Its owner is gone. */
  left(tab: TabId): void {
    this.#warm.get(tab)?.close();
    this.#warm.delete(tab);
  }

  close(): void {
    this.#closed = true;
    for (const warm of this.#warm.values()) warm.close();
  }

  #open<T>(tab: TabId, act: (open: OpenTab) => Promise<T | Fault>): Promise<T | Fault> {
    const { options, spending, open } = this.#ports;
    return open(tab, (actor) =>
      act({
        actor,
        warm: this.#warmOf(actor),
        context: () => tabContext(options, actor.core),
        turnPorts: () => turnPorts(options, actor.core, () => spending(tab)),
      }),
    );
  }

  #warmOf(actor: TabActor): KeepWarm {
    const { options, spending } = this.#ports;
    const tab = actor.core.tabId;
    const known = this.#warm.get(tab);
    if (known !== undefined) return known;
    const warm = new KeepWarm({
      actor,
      clock: options.clock,
      ids: options.ids,
      resolve: (model) => options.models.resolve(model),
      spending: () => spending(tab),
      broke: (error) => options.broke(error, tab, noTurn),
    });
    this.#warm.set(tab, warm);
    return warm;
  }

  look(tab: TabId): Promise<ContextBody | Fault> {
    return this.#open(tab, (open) => this.#look(open));
  }

  apply(tab: TabId, how: "tell" | "rebuild"): Promise<ContextBody | Fault> {
    return this.#open(tab, async (open) => {
      const { actor } = open;
      const problem = await this.#between(open, async (rows) => {
        const context = open.context();
        const fresh = await freshPrefix(context);
        const changes = contextChanges(rows, fresh);
        const more = how === "tell" ? tellRows(context, changes) : rebuildRows(context, rows, fresh);
        return changes.length === 0 ? [] : more;
      });
      if (problem !== null) return problem;
      if (!actor.isRunning) open.warm.arm();
      return this.#look(open);
    });
  }

  preview(tab: TabId, asked: PreviewAsked): Promise<PreviewBody | Fault> {
    return this.#open(tab, async (open) => {
      const { tab: entry } = open.actor.core;
      const chosen = { effort: asked.effort ?? effortOf(entry.effort), ttl: asked.cacheTtl ?? ttlOf(open) };
      const model = await open.turnPorts().models.resolve(asked.model ?? entry.model);
      if (isFault(model)) return model;
      const ground = await this.#ground(open);
      if (isFault(ground)) return ground;
      const { effort } = chosen;
      const frozen = prefixInForce(ground.rows)?.data ?? null;
      const now = await resolvedOr(open, entry.model);
      const nowWay = now === null ? null : wayOf(now, { effort: effortOf(entry.effort), ttl: ttlOf(open) }, frozen);
      const preview = previewOf(
        forecast(ground, wayOf(model, chosen, frozen)),
        nowWay === null ? null : forecast(ground, nowWay),
        model.facts.prices === null ? "The prices of this model are not known." : undefined,
      );
      return { preview, model: model.info.id, effort };
    });
  }

  compact(tab: TabId): Promise<{ readonly state: "started" | "asked" } | Fault> {
    return this.#open(tab, ({ actor }) => actor.compact());
  }

  undoCompaction(tab: TabId, seq: number): Promise<ContextBody | Fault> {
    return this.#open(tab, async (open) => {
      const { ids, clock } = open.actor.core.ports;
      const problem = await this.#between(open, async () => {
        if (open.actor.core.reading().compaction?.seq !== seq) {
          const hint = "Only the newest compaction that is in force can be undone; nothing was changed.";
          return fault("nothing-to-compact", `Row ${seq} is no compaction that is in force.`, hint);
        }
        const place = { id: ids.chunk(), turnId: noTurn, step: 0, createdAt: clock.now() };
        return [{ ...place, role: "system", type: "system", data: { kind: "compaction-undo", compactionSeq: seq } }];
      });
      if (problem !== null) return problem;
      open.warm.arm();
      return this.#look(open);
    });
  }

  sentRequest(tab: TabId, seq: number, from: number | null): Promise<SentRequestBody | Fault> {
    return this.#open(tab, async (open) => {
      const log = await open.actor.readLog();
      if (isFault(log)) return log;
      const { rows, reading } = log;
      const sent = sentAt(reading, seq);
      if (isFault(sent)) return sent;
      const model = await open.turnPorts().models.resolve(sent.model);
      if (isFault(model)) return model;
      const blobs = await blobsFor(open.actor.core.ports.log.blobs, rows.slice(0, seq));
      return sentRequest({ rows, reading, sent, model, blobs, from });
    });
  }

  /** Seals what `make` decides on the rows as they are, unless a turn is open. */
  #between(
    { actor }: OpenTab,
    make: (rows: readonly StoredRow[]) => Promise<readonly NewRow[] | Fault>,
  ): Promise<Fault | null> {
    return actor.act(async () => {
      const problem = actor.between();
      if (problem !== null) return problem;
      const held = await actor.load();
      if (isFault(held)) return held;
      const rows = await make(held);
      if (isFault(rows)) return rows;
      const outcome = rows.length === 0 ? null : await actor.core.commit({ rows });
      return outcome === null || outcome.kind === "committed" ? null : outcomeFault(outcome);
    });
  }

  async #look(open: OpenTab): Promise<ContextBody | Fault> {
    const ground = await this.#ground(open);
    if (isFault(ground)) return ground;
    const { core } = open.actor;
    const { rows, reading } = ground;
    const [model, inForce, warm, fresh] = await Promise.all([
      resolvedOr(open, core.tab.model),
      resolvedOr(open, reading.chosen?.model ?? core.tab.model),
      open.warm.state(ground),
      rows.length === 0 ? null : freshPrefix(open.context()),
    ]);
    const ttl = ttlOf(open);
    const frozen = prefixInForce(rows)?.data ?? null;
    return contextBody({
      ground,
      way: model === null ? null : wayOf(model, { effort: effortOf(core.tab.effort), ttl }, frozen),
      wayInForce:
        inForce === null
          ? null
          : wayOf(inForce, { effort: effortOf(reading.chosen?.effort ?? "default"), ttl }, frozen),
      changes: fresh === null ? [] : contextChanges(rows, fresh),
      fresh,
      autoCompact: open.turnPorts().autoCompact(),
      ids: core.ports.ids,
      warm,
    });
  }

  async #ground(open: OpenTab): Promise<Ground | Fault> {
    const log = await open.actor.readLog();
    if (isFault(log)) return log;
    const { rows, reading } = log;
    const frozen = prefixInForce(rows)?.data ?? null;
    const targets = new Map<string, WireTarget>();
    for (const name of new Set(reading.sent.map(({ model }) => model))) {
      const model = await resolvedOr(open, name);
      if (model !== null) targets.set(name, targetUnder(frozen, model.target));
    }
    const { clock } = open.actor.core.ports;
    return { rows, reading, targetOf: (name) => targets.get(name) ?? null, now: clock.now(), measured: new Map() };
  }
}

const ttlOf = ({ actor }: OpenTab): CacheTtl => optionsOf(actor.core.tab.options).cacheTtl ?? "5m";

async function resolvedOr(open: OpenTab, name: string): Promise<ResolvedModel | null> {
  const model = await open.turnPorts().models.resolve(name);
  return isFault(model) ? null : model;
}
