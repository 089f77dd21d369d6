/**
 * A client: one connection, any number of tabs on it, the list of tabs, and the outbox that outlives them all.
 */
import type { Command, Frame, TabId, TabRecord, WorkspaceFrame } from "@varve/protocol";
import type { ClientPorts, StoredOutboxEntry, SyncClient, TabHandle } from "./client.ts";
import { ConnectionRunner } from "./connection-runner.ts";
import { Listeners } from "./listeners.ts";
import type { StoreChange } from "./outbox.ts";
import { type Reply, Requests } from "./requests.ts";
import { TabSync, type TabWire } from "./tab-sync.ts";
import { takeWorkspace, type Workspace } from "./workspace.ts";

/** Starts connecting at once. */
export function createSyncClient(ports: ClientPorts): SyncClient {
  const client = new Client(ports);
  client.start();
  return client;
}

class Client implements SyncClient {
  readonly #ports: ClientPorts;
  readonly #runner: ConnectionRunner;
  readonly #requests = new Requests();
  readonly #listeners = new Listeners();
  readonly #tabs = new Map<TabId, TabSync>();
  /** What the store held for tabs that nobody has opened: accepted messages, kept for a restore. */
  readonly #stored = new Map<TabId, StoredOutboxEntry[]>();
  #workspace: Workspace | undefined;
  #stores: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(ports: ClientPorts) {
    this.#ports = ports;
    this.#runner = new ConnectionRunner(ports, {
      wentLive: () => this.#wentLive(),
      wentDown: () => this.#wentDown(),
      frame: (frame) => this.#frame(frame),
      changed: () => this.#listeners.changed(),
    });
  }

  start(): void {
    this.#runner.start();
    void this.#loadOutbox();
  }

  connection(): ReturnType<SyncClient["connection"]> {
    return this.#runner.state();
  }

  tabs(): readonly TabRecord[] | undefined {
    return this.#workspace?.tabs;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  open(tabId: TabId): TabHandle {
    return this.#tab(tabId).handle();
  }

  probe(): void {
    this.#runner.probe();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const tab of this.#tabs.values()) tab.close();
    this.#tabs.clear();
    this.#runner.close();
    this.#listeners.clear();
  }

  #tab(tabId: TabId): TabSync {
    const held = this.#tabs.get(tabId);
    if (held !== undefined) return held;
    const tab = new TabSync(tabId, this.#wireOf(tabId));
    if (this.#closed) return tab;
    this.#tabs.set(tabId, tab);
    const stored = this.#stored.get(tabId);
    this.#stored.delete(tabId);
    if (stored !== undefined) tab.load(stored);
    if (this.#runner.live) tab.wentLive();
    return tab;
  }

  #wireOf(tabId: TabId): TabWire {
    return {
      live: () => this.#runner.live,
      send: (command) => this.#runner.send(command),
      request: (make, answered) => this.#request(make, answered),
      answered: (re) => this.#requests.done(re),
      rest: this.#ports.rest,
      clock: this.#ports.clock,
      newId: this.#ports.newId,
      store: (changes) => this.#store(changes),
      released: () => this.#release(tabId),
    };
  }

  #request(make: (re: number) => Command, answered: (reply: Reply) => void): number | null {
    if (!this.#runner.live) return null;
    const re = this.#requests.open(answered);
    if (re === null) return null;
    this.#runner.send(make(re));
    return re;
  }

  /** Lets a tab go once nobody looks at it and nothing of it is under way; what it keeps for a restore stays known. */
  #release(tabId: TabId): void {
    const tab = this.#tabs.get(tabId);
    if (tab === undefined || tab.needed) return;
    const kept = tab.view.outbox.kept;
    if (kept.length > 0) this.#stored.set(tabId, [...kept]);
    this.#tabs.delete(tabId);
    tab.close();
  }

  async #loadOutbox(): Promise<void> {
    const entries = await this.#ports.outbox.load().catch((): readonly StoredOutboxEntry[] => []); // Without a store the outbox lives in memory only.
    if (this.#closed) return;
    const byTab = new Map<TabId, StoredOutboxEntry[]>();
    for (const entry of entries) byTab.set(entry.tabId, [...(byTab.get(entry.tabId) ?? []), entry]);
    for (const [tabId, own] of byTab) {
      const tab = this.#tabs.get(tabId);
      if (tab !== undefined) tab.load(own);
      else this.#stored.set(tabId, own);
      if (own.some((entry) => entry.sealedAt === undefined)) this.#tab(tabId);
    }
  }

  /** One change after the other: a later one of the same message must never be overtaken by an earlier one. */
  #store(changes: readonly StoreChange[]): void {
    for (const change of changes) {
      const act = (): Promise<void> =>
        change.kind === "put" ? this.#ports.outbox.put(change.entry) : this.#ports.outbox.remove(change.id);
      this.#stores = this.#stores.then(act).catch(() => {}); // A full or forbidden store: memory still holds the message.
    }
  }

  #wentLive(): void {
    const re = this.#requests.open(() => {});
    if (re !== null) this.#runner.send({ type: "sub-workspace", re });
    for (const tab of this.#tabs.values()) tab.wentLive();
  }

  #wentDown(): void {
    this.#requests.loseAll();
    for (const tab of this.#tabs.values()) tab.wentDown();
  }

  #frame(frame: Frame): void {
    switch (frame.type) {
      case "head":
        this.#tabs.get(frame.tab)?.takeHead(frame);
        break;
      case "ops":
        this.#tabs.get(frame.tab)?.takeOps(frame);
        break;
      case "ack":
      case "err":
        this.#requests.take(frame);
        break;
      case "workspace":
        this.#takeWorkspace(frame);
        break;
      case "hello":
      case "ping":
      case "bye":
        break; // The connection has dealt with them.
      default:
        frame satisfies never;
    }
  }

  #takeWorkspace(frame: WorkspaceFrame): void {
    if (frame.re !== undefined) this.#requests.done(frame.re);
    const next = takeWorkspace(this.#workspace, frame);
    if (next === this.#workspace) return;
    this.#workspace = next;
    this.#listeners.changed();
  }
}
