import type { ConnectionState, OutboxState, SyncClient } from "@varve/client";
import type { TabId, TabRecord } from "@varve/protocol";
import { OpenTab } from "./open-tab.svelte.ts";

/** Tabs whose rows stay loaded when another one is shown, so that going back is instant. */
const OPEN_TABS_MAX = 6;

/** The tab list and the tabs that are open in this window of the browser. */
export class Workspace {
  connection: ConnectionState = $state.raw({ kind: "connecting", attempt: 0 });
  tabs: readonly TabRecord[] | undefined = $state.raw(undefined);
  /** Whether what is sent and not yet accepted outlives this page. */
  outbox: OutboxState = $state.raw({ kind: "opening" });
  readonly #sync: SyncClient;
  /** By last use, oldest first. */
  readonly #open = new Map<TabId, OpenTab>();
  readonly #stop: () => void;

  constructor(sync: SyncClient) {
    this.#sync = sync;
    this.#read();
    this.#stop = sync.onChange(() => this.#read());
  }

  /** The newest first: the list comes in order of making, and does not change while one works. */
  readonly living: readonly TabRecord[] = $derived.by(() =>
    (this.tabs ?? []).filter((tab) => tab.trashedAt === null).toReversed(),
  );
  readonly trashed: readonly TabRecord[] = $derived.by(() =>
    (this.tabs ?? []).filter((tab) => tab.trashedAt !== null).toReversed(),
  );
  readonly waiting: number = $derived(this.living.filter((tab) => tab.waits > 0).length);

  record(id: TabId): TabRecord | undefined {
    return this.tabs?.find((tab) => tab.id === id);
  }

  /** The tab's rows, kept for a while after it was last asked for. */
  open(id: TabId): OpenTab {
    const tab = this.#open.get(id) ?? new OpenTab(this.#sync.open(id));
    this.#open.delete(id);
    this.#open.set(id, tab);
    for (const [other, { close }] of this.#open) {
      if (this.#open.size <= OPEN_TABS_MAX) break;
      close();
      this.#open.delete(other);
    }
    return tab;
  }

  /** A message that lives in this page alone is not on the server yet. */
  get losesMessages(): boolean {
    if (this.outbox.kind !== "memory") return false;
    return [...this.#open.values()].some((tab) => tab.snapshot.pending.length + tab.snapshot.lost.length > 0);
  }

  probe(): void {
    this.#sync.probe();
  }

  close(): void {
    this.#stop();
    for (const tab of this.#open.values()) tab.close();
    this.#open.clear();
    this.#sync.close();
  }

  #read(): void {
    this.connection = this.#sync.connection();
    this.tabs = this.#sync.tabs();
    this.outbox = this.#sync.outbox();
  }
}
