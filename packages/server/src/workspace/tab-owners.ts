/**
 * Gives every tab its one owner in this process, when somebody first needs it. An owner that takes over a tab whose turn was
 * left unfinished ends that turn, or goes on waiting with it, before anybody else reaches the tab.
 */
import { noSecrets, recover } from "@varve/agent";
import type { Fence, TabEntry } from "@varve/log";
import { type Fault, fault, isFault, type LimitName, type StoredRow, type TabId } from "@varve/protocol";
import { outcomeFault } from "./act-faults.ts";
import { readable, unknownTab } from "./faults.ts";
import { showLastEnd } from "./last-end.ts";
import { TabActor } from "./tab-actor.ts";
import { TabCore } from "./tab-core.ts";
import type { Raise, TabMoney } from "./tab-money.ts";
import { atMost } from "./turn-left.ts";
import { tabContext, turnPorts, type WorkspaceOptions } from "./workspace-options.ts";

export interface OwnersPorts {
  readonly options: WorkspaceOptions;
  /** Tabs that an earlier process left in the middle of a turn. */
  readonly unfinished: ReadonlySet<TabId>;
  readonly isKnown: (tab: TabId) => boolean;
  readonly money: Pick<TabMoney, "spending" | "raise">;
  /** What the tab list shows of it has changed. */
  readonly changed: (tab: TabId) => void;
  readonly sealed: (fence: Fence, rows: readonly StoredRow[]) => void;
  readonly rested: (actor: TabActor) => void;
}

const shuttingDown = (): Fault => fault("shutting-down", "The server is closing.", "Try again when it is back.");

export class TabOwners {
  readonly #ports: OwnersPorts;
  readonly #actors = new Map<TabId, TabActor>();
  readonly #opening = new Map<TabId, Promise<TabActor | Fault>>();
  /** Fields that were changed while the tab's owner was being made. */
  readonly #news = new Map<TabId, TabEntry>();
  readonly #unfinished: Set<TabId>;
  /** No tab is opened any more. */
  #closing = false;
  /** Owners that come now come too late. */
  #closed = false;
  #recovered = 0;
  #broken = 0;

  constructor(ports: OwnersPorts) {
    this.#ports = ports;
    this.#unfinished = new Set(ports.unfinished);
  }

  /** The owner, if the tab has one already. */
  get(tab: TabId): TabActor | undefined {
    return this.#actors.get(tab);
  }

  /** The owner, also one that is just being made; undefined when nobody has asked for one. */
  async settled(tab: TabId): Promise<TabActor | undefined> {
    const actor = this.#actors.get(tab) ?? (await this.#opening.get(tab));
    return actor === undefined || isFault(actor) ? undefined : actor;
  }

  /** Runs an act on the owner of a tab, which is made for it where there is none. */
  with<T>(tab: TabId, act: (actor: TabActor) => Promise<T> | T): Promise<T | Fault> {
    return readable(async () => {
      const actor = await this.open(tab);
      return isFault(actor) ? actor : act(actor);
    });
  }

  async open(tab: TabId): Promise<TabActor | Fault> {
    const known = this.#actors.get(tab);
    if (known !== undefined) return known;
    if (!this.#ports.isKnown(tab)) return unknownTab();
    if (this.#closing) return shuttingDown();
    const opening = this.#opening.get(tab) ?? this.#made(tab).finally(() => this.#notOpening(tab));
    this.#opening.set(tab, opening);
    return opening;
  }

  /** The tab's own fields have changed. An owner that is being made knows it before anybody reaches the tab. */
  renewed(entry: TabEntry): TabActor | undefined {
    const actor = this.#actors.get(entry.id);
    if (actor !== undefined) actor.core.renewed(entry);
    else if (this.#opening.has(entry.id)) this.#news.set(entry.id, entry);
    return actor;
  }

  /** The tab is gone. */
  left(tab: TabId): void {
    this.#actors.get(tab)?.gone();
    this.#actors.delete(tab);
  }

  /** Whoever opens the tab next recovers it, as after a crash. */
  leftUnfinished(tab: TabId): void {
    this.#unfinished.add(tab);
    this.#actors.delete(tab);
  }

  counters(): Readonly<Record<"owners" | "running" | "recovered" | "broken", number>> {
    return {
      owners: this.#actors.size,
      running: [...this.#actors.values()].filter((actor) => actor.isRunning).length,
      recovered: this.#recovered,
      broken: this.#broken,
    };
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    // One that is being opened waits for the disk perhaps, longer than anybody waits for it.
    await atMost(this.#ports.options.clock, graceMs, Promise.allSettled(this.#opening.values()));
    this.#closed = true;
    await Promise.all([...this.#actors.values()].map((actor) => actor.close(graceMs)));
  }

  async #made(tab: TabId): Promise<TabActor | Fault> {
    const { log, clock } = this.#ports.options;
    const claim = await log.claim(tab, clock.now());
    if (claim === null) return unknownTab();
    if (isFault(claim)) return claim;
    if (this.#closed) return shuttingDown();
    const actor = this.#actorOn(claim);
    this.#tellNews(actor);
    const problem = await actor.core.mailbox.run(async () => {
      const left = await this.#takeOver(actor);
      if (left === null) await actor.goOn();
      return left;
    });
    if (problem !== null) return problem;
    if (this.#closed) {
      await actor.close(0);
      return shuttingDown();
    }
    this.#tellNews(actor);
    this.#actors.set(tab, actor);
    this.#ports.changed(tab);
    return actor;
  }

  #tellNews({ core }: TabActor): void {
    const entry = this.#news.get(core.tabId);
    if (entry !== undefined) core.renewed(entry);
  }

  #notOpening(tab: TabId): void {
    this.#opening.delete(tab);
    this.#news.delete(tab);
  }

  #actorOn(claim: ConstructorParameters<typeof TabCore>[0]): TabActor {
    const { options, money, changed, sealed, rested } = this.#ports;
    const { log, clock, ids, giveWay } = options;
    const tab = claim.tab.id;
    const core = new TabCore(claim, {
      log,
      clock,
      ids,
      giveWay,
      secrets: options.secrets ?? noSecrets,
      changed,
      sealed,
      settled: (rows, stops) => actor.settled(rows, stops),
    });
    const actor: TabActor = new TabActor({
      core,
      turnPorts: () => turnPorts(options, core, () => money.spending(tab)),
      raise: (limit: LimitName, raise: Raise) => money.raise(tab, limit, raise),
      keepRules: (rules) => options.keepRules(core.tab.cwd, rules),
      context: () => tabContext(options, core),
      turnDeadlineMs: options.turnDeadlineMs ?? null,
      rested: () => rested(actor),
      broke: (error, turn) => {
        this.#broken++;
        options.broke(error, tab, turn);
      },
    });
    return actor;
  }

  async #takeOver(actor: TabActor): Promise<Fault | null> {
    const { log, clock, ids } = this.#ports.options;
    const { core } = actor;
    if (!this.#unfinished.has(core.tabId)) {
      const outcome = await actor.takeOver([], null);
      return outcome.kind === "committed" ? showLastEnd(log, core) : outcomeFault(outcome);
    }
    const rows = await core.load();
    if (isFault(rows)) return rows;
    const recovery = recover({ rows, blocks: log.journal.blocksOf(core.tabId), now: clock.now(), ids });
    const outcome = await actor.takeOver(recovery.rows, recovery.resume === "waiting" ? recovery.turnId : null);
    if (outcome.kind !== "committed") return outcomeFault(outcome);
    log.journal.clear(core.tabId);
    this.#unfinished.delete(core.tabId);
    this.#recovered++;
    return actor.isRunning ? null : showLastEnd(log, core);
  }
}
