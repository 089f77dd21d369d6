/**
 * The second key: bound to this origin and port by IndexedDB, which cookies are not. A browser that refuses storage
 * (private windows may) keeps the page signed in until it is closed.
 */
export interface KeyStore {
  read(): Promise<string | null>;
  write(key: string): Promise<void>;
}

const DATABASE = "varve-access";
const STORE = "keys";
const ENTRY = "second-key";

export const indexedDbKeyStore = (factory: IDBFactory): KeyStore => ({
  read: async () => {
    const value: unknown = await inStore(factory, "readonly", (store) => store.get(ENTRY)).catch(() => null);
    return typeof value === "string" ? value : null;
  },
  write: async (key) => {
    await inStore(factory, "readwrite", (store) => store.put(key, ENTRY)).catch(() => null);
  },
});

function inStore<T>(
  factory: IDBFactory,
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = factory.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error);
    opening.onblocked = () => reject(new Error("blocked"));
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => {
        database.close();
        resolve(request.result);
      };
      transaction.onerror = () => {
        database.close();
        reject(transaction.error);
      };
    };
  });
}
