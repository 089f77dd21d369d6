/**
 * A client: one connection, any number of tabs on it, the list of tabs, and the outbox that outlives them all.
 */
import type { Command, Frame, TabId, TabRecord, WorkspaceFrame } from "@varve/protocol";
import type { ClientPorts, OutboxState, StoredOutboxEntry, SyncClient, TabHandle } from "./client.ts";
import { ConnectionRunner } from "./connection-runner.ts";
import { Listeners } from "./listeners.ts";
import { emptyOutbox, isUnderWay, loadEntries, type Outbox } from "./outbox.ts";
import { OutboxKeeper } from "./outbox-keeper.ts";
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
  readonly #keeper: OutboxKeeper;
  /** Of tabs that are not open: accepted messages, kept for a restore, and those that wait for a person's decision. */
  readonly #left = new Map<TabId, Outbox>();
  #workspace: Workspace | undefined;
  #closed = false;

  constructor(ports: ClientPorts) {
    this.#ports = ports;
    this.#runner = new ConnectionRunner(ports, {
      wentLive: () => this.#wentLive(),
      wentDown: () => this.#wentDown(),
      frame: (frame) => this.#frame(frame),
      changed: () => this.#listeners.changed(),
    });
    this.#keeper = new OutboxKeeper(ports.outbox, ports.clock, {
      entries: (entries) => this.#takeEntries(entries),
      ready: () => {
        for (const tab of this.#tabs.values()) tab.sendIfSubscribed();
      },
      changed: () => this.#listeners.changed(),
    });
  }

  start(): void {
    this.#runner.start();
    this.#keeper.start();
  }

  connection(): ReturnType<SyncClient["connection"]> {
    return this.#runner.state();
  }

  outbox(): OutboxState {
    return this.#keeper.state();
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
    this.#keeper.close();
    this.#listeners.clear();
  }

  #tab(tabId: TabId): TabSync {
    const held = this.#tabs.get(tabId);
    if (held !== undefined) return held;
    const tab = new TabSync(tabId, this.#wireOf(tabId), this.#left.get(tabId) ?? emptyOutbox);
    if (this.#closed) return tab;
    this.#tabs.set(tabId, tab);
    this.#left.delete(tabId);
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
      store: (changes) => this.#keeper.write(changes),
      outboxReady: () => this.#keeper.ready,
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

  /** Lets a tab go once nobody looks at it and nothing of it is under way; the rest of its outbox stays known. */
  #release(tabId: TabId): void {
    const tab = this.#tabs.get(tabId);
    if (tab === undefined || tab.needed) return;
    const { outbox } = tab.view;
    if (outbox.kept.length + outbox.pending.length + outbox.lost.length > 0) this.#left.set(tabId, outbox);
    this.#tabs.delete(tabId);
    tab.close();
  }

  /** Of the store. Whatever is still to be sent is sent, also for tabs that nobody has opened. */
  #takeEntries(entries: readonly StoredOutboxEntry[]): void {
    const byTab = new Map<TabId, StoredOutboxEntry[]>();
    for (const entry of entries) byTab.set(entry.tabId, [...(byTab.get(entry.tabId) ?? []), entry]);
    for (const [tabId, own] of byTab) {
      const tab = this.#tabs.get(tabId);
      if (tab !== undefined) {
        tab.load(own);
        continue;
      }
      const step = loadEntries(this.#left.get(tabId) ?? emptyOutbox, own, this.#ports.clock.now());
      this.#keeper.write(step.changes);
      this.#left.set(tabId, step.outbox);
      if (step.outbox.pending.some(isUnderWay)) this.#tab(tabId);
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
