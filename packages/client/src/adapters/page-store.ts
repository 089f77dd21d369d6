/**
 * What the pages of one browser profile share: the entries of their outboxes, each with the page that owns it, and leases,
 * by which a page says that it lives where the browser has no locks.
 */
import type { ChunkId } from "@varve/protocol";
import type { StoredOutboxEntry } from "../client.ts";

export interface OwnedEntry {
  readonly id: ChunkId;
  readonly owner: string;
  readonly entry: StoredOutboxEntry;
}
/** `owner` says that it lives until `until` (clock of the device, ms), unless it says so again. */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}
export interface TakeOver {
  readonly from: string;
  readonly to: string;
  /** Decides on the lease of `from` as it is in the very transaction that moves the entries. */
  readonly allowed: (lease: Lease | undefined) => boolean;
}

/** Each call is one transaction: all of it or nothing, one after the other. A browser that refuses storage rejects it. */
export interface PageStore {
  all(): Promise<readonly OwnedEntry[]>;
  put(entry: OwnedEntry): Promise<void>;
  remove(id: ChunkId): Promise<void>;
  /** Compare and set: what `from` owns becomes `to`'s, and the lease of `from` ends. Returns what was moved. */
  takeOver(move: TakeOver): Promise<readonly OwnedEntry[]>;
  putLease(lease: Lease): Promise<void>;
  dropLease(owner: string): Promise<void>;
}

const databaseName = "varve-outbox";
const databaseVersion = 2;
const entriesName = "entries";
const leasesName = "leases";

/** Opens the database at first use. */
export function indexedDbStore(factory: IDBFactory): PageStore {
  let opened: Promise<IDBDatabase> | undefined;
  const forget = (): void => {
    opened = undefined;
  };
  const open = (): Promise<IDBDatabase> => {
    opened ??= openDatabase(factory, forget).catch((error: unknown) => {
      forget();
      throw error;
    });
    return opened;
  };
  /** Resolves with what `act` returned, once everything that it asked for is durable. */
  const run = async <T>(
    mode: IDBTransactionMode,
    act: (stores: Stores) => T,
    { last = false }: { readonly last?: boolean } = {},
  ): Promise<T> => {
    const transaction = (await open()).transaction([entriesName, leasesName], mode);
    const result = act({ entries: transaction.objectStore(entriesName), leases: transaction.objectStore(leasesName) });
    // A page that goes can't be asked whether it wants more: without this its last transaction is undone with it.
    if (last) transaction.commit();
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
    return result;
  };
  return {
    // Only this module writes to the store, and only what `put` takes.
    all: async () => (await run("readonly", ({ entries }) => entries.getAll())).result as readonly OwnedEntry[],
    put: async (entry) => void (await run("readwrite", ({ entries }) => entries.put(entry))),
    remove: async (id) => void (await run("readwrite", ({ entries }) => entries.delete(id))),
    takeOver: (move) => run("readwrite", (stores) => moveEntries(stores, move)),
    putLease: async (lease) => void (await run("readwrite", ({ leases }) => leases.put(lease))),
    dropLease: async (owner) => void (await run("readwrite", ({ leases }) => leases.delete(owner), { last: true })),
  };
}

interface Stores {
  readonly entries: IDBObjectStore;
  readonly leases: IDBObjectStore;
}

/** The array is filled while the transaction runs. */
function moveEntries({ entries, leases }: Stores, { from, to, allowed }: TakeOver): readonly OwnedEntry[] {
  const moved: OwnedEntry[] = [];
  const held: IDBRequest<Lease | undefined> = leases.get(from);
  held.onsuccess = () => {
    if (!allowed(held.result)) return;
    leases.delete(from);
    const all: IDBRequest<OwnedEntry[]> = entries.getAll();
    all.onsuccess = () => {
      for (const item of all.result) {
        if (item.owner !== from) continue;
        const own = { ...item, owner: to };
        entries.put(own);
        moved.push(own);
      }
    };
  };
  return moved;
}

/** `closed`: another page needs a later version of the database, or the browser closed it. */
function openDatabase(factory: IDBFactory, closed: () => void): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = factory.open(databaseName, databaseVersion);
    opening.onupgradeneeded = () => {
      const { objectStoreNames } = opening.result;
      if (!objectStoreNames.contains(entriesName)) opening.result.createObjectStore(entriesName, { keyPath: "id" });
      if (!objectStoreNames.contains(leasesName)) opening.result.createObjectStore(leasesName, { keyPath: "owner" });
    };
    opening.onsuccess = () => {
      const database = opening.result;
      database.onclose = closed;
      database.onversionchange = () => {
        database.close();
        closed();
      };
      resolve(database);
    };
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("the outbox database is blocked by a page of another build"));
  });
}
