/**
 * A device with its store, and the pages that are opened on it one after the other: each is the real client over a simulated
 * wire. A page that is closed loses its memory; what the store has taken stays.
 */
import {
  type ClientPorts,
  createSyncClient,
  type OutboxStore,
  type StoredOutboxEntry,
  type SyncClient,
  type TabHandle,
  type TabSnapshot,
} from "@varve/client";
import {
  type ChunkId,
  type Delivery,
  fault,
  idMaker,
  isFault,
  parseChunkId,
  parseLogId,
  type TabId,
} from "@varve/protocol";
import type { LiveWorkspace } from "@varve/server/parts";
import { countingIdTexts } from "../fake-ids.ts";
import type { Prng } from "../prng.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";
import type { Network } from "./network.ts";
import { processClock } from "./process-clock.ts";

const storeScale = 4;
const requestScale = 10;

export interface DevicePorts {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly network: Network;
  /** Carries a request out on whatever server runs then; null: nobody answers. */
  readonly ask: <T>(act: (workspace: LiveWorkspace) => Promise<T>) => Promise<T | null>;
  /** A change to a page's store, to show that what it breaks is found. */
  readonly tampered: (store: OutboxStore) => OutboxStore;
}

/** A message that was written on this device. */
export interface Own {
  readonly id: ChunkId;
  readonly tab: TabId;
  readonly text: string;
  /** The page was told that the store has it: from then on it outlives the page. */
  kept: boolean;
}

export class Device {
  readonly name: string;
  readonly ports: DevicePorts;
  readonly skew = { ms: 0 };
  readonly stored = new Map<ChunkId, StoredOutboxEntry>();
  readonly own = new Map<ChunkId, Own>();
  /** What it shows, whether a page is open or not. */
  readonly tabs: TabId[] = [];
  page: Page | null = null;
  #pages = 0;

  constructor(name: string, ports: DevicePorts) {
    this.name = name;
    this.ports = ports;
  }

  open(): void {
    if (this.page !== null) return;
    this.#pages += 1;
    this.page = new Page(this, `${this.name}p${this.#pages}`);
    for (const tab of this.tabs) this.page.show(tab);
  }

  /** As when the browser is closed or the phone dies: nothing is said good-bye to, but the socket falls. */
  close(): void {
    this.page?.end();
    this.page = null;
  }

  /** Tabs that are no more are shown no more. */
  leave(isGone: (tab: TabId) => boolean): void {
    for (const tab of this.tabs.filter(isGone)) {
      this.tabs.splice(this.tabs.indexOf(tab), 1);
      this.page?.shown.get(tab)?.handle.close();
      this.page?.shown.delete(tab);
    }
  }

  show(tab: TabId): void {
    if (this.tabs.includes(tab)) return;
    this.tabs.push(tab);
    this.page?.show(tab);
  }
}

/** A tab as a page shows it. */
export interface Shown {
  readonly handle: TabHandle;
  snapshot: TabSnapshot;
  changed: boolean;
}

export class Page {
  readonly device: Device;
  readonly life: Lifetime = { alive: true };
  readonly client: SyncClient;
  readonly shown = new Map<TabId, Shown>();
  /** The store has been read: what earlier pages left is known. */
  loaded = false;

  constructor(device: Device, name: string) {
    this.device = device;
    const { queue, prng, network } = device.ports;
    const ids = idMaker(countingIdTexts(name));
    this.client = createSyncClient({
      connect: (handlers) => network.connect(this.life, handlers),
      rest: (request) => this.#rest(request),
      clock: processClock(queue, this.life, device.skew),
      newId: () => ids.chunk(),
      random: () => prng.float(),
      outbox: this.#watched(device.ports.tampered(this.#store())),
      identity: { client: device.name, build: "build" },
    });
  }

  show(tab: TabId): void {
    const handle = this.client.open(tab);
    const shown: Shown = { handle, snapshot: handle.snapshot(), changed: true };
    handle.onChange(() => {
      shown.changed = true;
    });
    this.shown.set(tab, shown);
  }

  send(tab: TabId, text: string, delivery: Delivery): ChunkId | null {
    const id = this.shown.get(tab)?.handle.send({ text, delivery }) ?? null;
    if (id !== null) this.device.own.set(id, { id, tab, text, kept: false });
    return id;
  }

  end(): void {
    this.life.alive = false;
    this.client.close();
  }

  #watched(store: OutboxStore): OutboxStore {
    const put: OutboxStore["put"] = async (entry) => {
      await store.put(entry);
      const own = this.device.own.get(entry.id);
      if (own !== undefined) own.kept = true;
    };
    return { load: () => store.load(), put, remove: (id) => store.remove(id) };
  }

  #store(): OutboxStore {
    const { queue, latency } = this.device.ports;
    const { stored } = this.device;
    const { life } = this;
    const written = async (write: () => void): Promise<void> => {
      await queue.pause(latency.draw(storeScale), { kind: "store", life });
      write();
      await queue.pause(latency.draw(storeScale), { kind: "store-answer", life });
    };
    return {
      load: async () => {
        await queue.pause(latency.draw(storeScale), { kind: "store", life });
        this.loaded = true;
        return [...stored.values()];
      },
      put: (entry) => written(() => void stored.set(entry.id, entry)),
      remove: (id) => written(() => void stored.delete(id)),
    };
  }

  async #rest({ method, path }: Parameters<ClientPorts["rest"]>[0]): ReturnType<ClientPorts["rest"]> {
    const { queue, latency, ask } = this.device.ports;
    await queue.pause(latency.draw(requestScale), { kind: "rest", life: this.life });
    const answer = await ask((workspace) => answered(workspace, method, path));
    if (answer === null) {
      await queue.pause(latency.draw(requestScale), { kind: "rest-lost", life: this.life });
      return { ok: false, error: { code: "log-unavailable", message: "Nobody answers." } };
    }
    // What crosses the wire is text.
    const body: unknown = JSON.parse(JSON.stringify(answer));
    return isFault(answer) ? { ok: false, error: answer } : { ok: true, body };
  }
}

/** The few addresses that a client reads, without a request around them. */
async function answered(workspace: LiveWorkspace, method: string, path: string): Promise<unknown> {
  const url = new URL(path, "http://server");
  const [, kind, id, what, which] = url.pathname.split("/");
  const tab = workspace.list().find((record) => record.id === id)?.id;
  if (method !== "GET" || kind !== "tabs") return fault("unknown-route", "There is nothing at this address.");
  if (tab === undefined) return fault("unknown-tab", "There is no such tab.");
  const message = what === "queue" ? parseChunkId(which ?? "") : null;
  if (message !== null) return workspace.messageFate(tab, message);
  if (what === "head") return headWithDigest(workspace, tab, url.searchParams);
  const number = (name: string): number | undefined => {
    const text = url.searchParams.get(name);
    return text === null ? undefined : Number(text);
  };
  const [before, after, limit] = [number("before"), number("after"), number("limit")];
  return workspace.page(tab, {
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(limit !== undefined && { limit }),
  });
}

async function headWithDigest(workspace: LiveWorkspace, tab: TabId, query: URLSearchParams): Promise<unknown> {
  const [, lo, hi] = /^(\d+)-(\d+)$/.exec(query.get("digest") ?? "") ?? [];
  const log = parseLogId(query.get("log") ?? "");
  if (log === null) return fault("bad-cursor", "A check names its log.");
  const held = { log, term: Number(query.get("term")), mine: query.get("mine") ?? "" };
  const digest = await workspace.compare(tab, { lo: Number(lo), hi: Number(hi) }, held);
  if (isFault(digest)) return digest;
  const head = await workspace.head(tab);
  return isFault(head) ? head : { ...head, digest };
}
