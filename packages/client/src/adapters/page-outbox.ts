/**
 * The outbox of a page in IndexedDB. Each page owns its entries under its client id and holds a lock of that name while it
 * lives; a page that starts takes over the entries of owners whose lock is free: those of its own life before a reload,
 * and of pages that were closed. Where the browser has no locks (plain http on a network) it takes over all of them:
 * every message is sent under its own id, which the server takes once, so two senders are only a waste.
 */
import type { ChunkId } from "@varve/protocol";
import type { OutboxStore, StoredOutboxEntry } from "../client.ts";

/** Says whether the page that owned something has ended. */
export interface OwnerGuard {
  /** Holds the name until the page ends. */
  hold(owner: string): void;
  /** Runs `act` if nobody holds the name, and keeps everybody else out meanwhile. */
  ifEnded(owner: string, act: () => Promise<void>): Promise<void>;
}

const lockName = (owner: string): string => `varve-outbox-${owner}`;

export function webLockGuard(locks: LockManager): OwnerGuard {
  return {
    hold: (owner) => {
      const forGood = (): Promise<never> => new Promise(() => {});
      locks.request(lockName(owner), forGood).catch(() => {}); // Refused only while the page is being torn down.
    },
    ifEnded: async (owner, act) => {
      await locks.request(lockName(owner), { ifAvailable: true }, async (lock) => {
        if (lock !== null) await act();
      });
    },
  };
}

export const noGuard: OwnerGuard = { hold: () => {}, ifEnded: (_owner, act) => act() };

/** Rows of the database: entries with their owner. */
export interface OwnedEntries {
  all(): Promise<readonly OwnedEntry[]>;
  put(entry: OwnedEntry): Promise<void>;
  remove(id: ChunkId): Promise<void>;
}
export interface OwnedEntry {
  readonly id: ChunkId;
  readonly owner: string;
  readonly entry: StoredOutboxEntry;
}

export function ownedOutbox(entries: OwnedEntries, guard: OwnerGuard, owner: string): OutboxStore {
  return {
    load: async () => {
      guard.hold(owner);
      const all = await entries.all();
      const own = all.filter((item) => item.owner === owner).map((item) => item.entry);
      for (const other of new Set(all.map((item) => item.owner))) {
        if (other === owner) continue;
        await guard.ifEnded(other, async () => {
          for (const item of all) {
            if (item.owner !== other) continue;
            await entries.put({ ...item, owner });
            own.push(item.entry);
          }
        });
      }
      return own;
    },
    put: (entry) => entries.put({ id: entry.id, owner, entry }),
    remove: (id) => entries.remove(id),
  };
}

const databaseName = "varve-outbox";
const storeName = "entries";

/** Opens the database at first use; a browser that refuses storage makes each call reject, which the client bears. */
export function indexedDbEntries(factory: IDBFactory): OwnedEntries {
  let opened: Promise<IDBDatabase> | undefined;
  const open = (): Promise<IDBDatabase> => {
    opened ??= openDatabase(factory).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const run = async <T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    const transaction = (await open()).transaction(storeName, mode);
    const request = act(transaction.objectStore(storeName));
    return await new Promise<T>((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    // Only this module writes to the store, and only what `put` takes.
    all: async () => (await run("readonly", (store) => store.getAll())) as readonly OwnedEntry[],
    put: async (entry) => void (await run("readwrite", (store) => store.put(entry))),
    remove: async (id) => void (await run("readwrite", (store) => store.delete(id))),
  };
}

function openDatabase(factory: IDBFactory): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = factory.open(databaseName, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(storeName, { keyPath: "id" });
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("the outbox database is blocked by another page"));
  });
}
