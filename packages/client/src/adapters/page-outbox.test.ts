import type { ChunkId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import type { StoredOutboxEntry } from "../client.ts";
import { chunkId, theTab } from "../test-kit/owner.ts";
import {
  noGuard,
  type OwnedEntries,
  type OwnedEntry,
  type OwnerGuard,
  ownedOutbox,
  webLockGuard,
} from "./page-outbox.ts";

/** One browser profile: a database and locks that pages share. */
function profile() {
  const rows = new Map<ChunkId, OwnedEntry>();
  const held = new Set<string>();
  const entries: OwnedEntries = {
    all: async () => [...rows.values()],
    put: async (entry) => void rows.set(entry.id, entry),
    remove: async (id) => void rows.delete(id),
  };
  const guard: OwnerGuard = {
    hold: (owner) => void held.add(owner),
    ifEnded: async (owner, act) => {
      if (held.has(owner)) return;
      held.add(owner);
      await act();
      held.delete(owner);
    },
  };
  return {
    rows,
    held,
    entries,
    page: (owner: string, with_: OwnerGuard = guard) => ownedOutbox(entries, with_, owner),
  };
}
const entry = (id: string): StoredOutboxEntry => ({
  tabId: theTab,
  id: chunkId(id),
  text: id,
  attachments: [],
  delivery: "steer",
  at: 1,
});
const ids = (entries: readonly StoredOutboxEntry[]) => entries.map((item) => item.id).sort();

describe("the outbox of a page", () => {
  test("[OUTBOX-8] a reloaded page takes over what its former life left", async () => {
    const { page, held, rows } = profile();
    const before = page("first");
    await before.load();
    await before.put(entry("a"));
    await before.put(entry("b"));
    await before.remove(chunkId("b"));
    held.delete("first");
    expect(ids(await page("second").load())).toEqual(["a"]);
    expect(rows.get(chunkId("a"))?.owner).toBe("second");
    expect([...held]).toEqual(["second"]);
  });
  test("[OUTBOX-8] what a living page owns is left to it", async () => {
    const { page } = profile();
    const living = page("living");
    await living.load();
    await living.put(entry("a"));
    expect(await page("other").load()).toEqual([]);
    expect(ids(await living.load())).toEqual(["a"]);
  });
  test("[OUTBOX-8] without locks everything is taken over: each message is taken once by its id anyway", async () => {
    const { page } = profile();
    await page("one", noGuard).put(entry("a"));
    await page("two", noGuard).put(entry("b"));
    expect(ids(await page("three", noGuard).load())).toEqual(["a", "b"]);
  });
  test("[OUTBOX-8] the guard of a browser asks for the lock of the owner, and acts only when it is free", async () => {
    const asked: [string, boolean | undefined][] = [];
    const taken = new Set(["varve-outbox-living"]);
    // The two ways in which the guard asks, as the Web Locks interface defines them.
    const request = async (
      name: string,
      options: unknown,
      act?: (lock: unknown) => Promise<unknown>,
    ): Promise<unknown> => {
      const wantsFree = typeof options === "object" && options !== null && "ifAvailable" in options;
      asked.push([name, wantsFree]);
      return wantsFree ? await act?.(taken.has(name) ? null : { name }) : undefined;
    };
    const guard = webLockGuard({ request } as unknown as LockManager);
    const acted: string[] = [];
    guard.hold("me");
    await guard.ifEnded("living", async () => void acted.push("living"));
    await guard.ifEnded("ended", async () => void acted.push("ended"));
    expect(acted).toEqual(["ended"]);
    expect(asked).toEqual([
      ["varve-outbox-me", false],
      ["varve-outbox-living", true],
      ["varve-outbox-ended", true],
    ]);
  });
});
