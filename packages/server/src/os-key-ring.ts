/** The key ring of this system, through an optional package that is loaded when the ring is first asked for. */
import type { KeyRing } from "./key-holder.ts";

const service = "varve";
/** The package's other store of this system keeps what it holds in the memory of the kernel: it is gone after a restart. */
const lasting = { linux: { store: "secret-service" } } as const;

/** Null where the package is missing. Rejects where the system has no ring that lasts. */
export async function osKeyRing(): Promise<KeyRing | null> {
  const loaded = await import("@napi-rs/keyring").catch(() => null);
  if (loaded === null) return null;
  const entry = (name: string) => new loaded.AsyncEntry(service, name, lasting);
  return {
    read: async (name) => entry(name).getPassword(),
    write: async (name, secret) => entry(name).setPassword(secret),
  };
}
