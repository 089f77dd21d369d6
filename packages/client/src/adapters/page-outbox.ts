/**
 * The outbox of a page in the browser's database. Each page owns its entries under its client id and is guarded while it
 * lives. A page that starts takes over the entries of owners that have ended: those of its own life before a reload, and of
 * pages that were closed; from time to time it looks again, so that what a page leaves behind while this one lives is sent
 * too. Of several pages that look at once exactly one gets the entries of an owner.
 */
import type { Clock, Timer } from "@varve/protocol";
import type { OutboxStore, StoredOutboxEntry } from "../client.ts";
import type { OwnerGuard } from "./owner-guard.ts";
import type { OwnedEntry, PageStore } from "./page-store.ts";

/** How often a page looks for entries of pages that have ended meanwhile. */
export const adoptIntervalMs = 30_000;

export interface PageOutboxOptions {
  readonly store: PageStore;
  readonly guard: OwnerGuard;
  readonly owner: string;
  readonly clock: Clock;
}
export interface PageOutbox extends OutboxStore {
  readonly adopted: NonNullable<OutboxStore["adopted"]>;
  /** The page goes. */
  release(): void;
  /** The page was frozen or in the browser's cache, and lives again. */
  awake(): void;
}

export function pageOutbox({ store, guard, owner, clock }: PageOutboxOptions): PageOutbox {
  let take: ((entries: readonly StoredOutboxEntry[]) => void) | undefined;
  let looking = false;
  let closed = false;
  let timer: Timer | undefined;
  /** Tells what each ended owner left as soon as it is this page's: the next transaction may be refused. */
  const takeOverEnded = async (
    all: readonly OwnedEntry[],
    taken: (entries: readonly StoredOutboxEntry[]) => void,
  ): Promise<void> => {
    for (const other of new Set(all.map((item) => item.owner))) {
      if (other === owner) continue;
      const moved = await guard.takeOver(other);
      if (moved.length > 0) taken(moved.map((item) => item.entry));
    }
  };
  const look = async (): Promise<void> => {
    if (looking || take === undefined) return;
    looking = true;
    try {
      await takeOverEnded(await store.all(), (entries) => take?.(entries));
    } catch {
      // The browser refuses storage now: the next look tries again.
    }
    looking = false;
  };
  const lookLater = (): void => {
    timer?.cancel();
    timer = clock.setTimer(adoptIntervalMs, () => {
      lookLater();
      void look();
    });
  };
  return {
    load: async () => {
      await guard.hold();
      const all = await store.all();
      const entries = all.filter((item) => item.owner === owner).map((item) => item.entry);
      await takeOverEnded(all, (taken) => entries.push(...taken));
      return entries;
    },
    put: (entry) => store.put({ id: entry.id, owner, entry }),
    remove: (id) => store.remove(id),
    adopted: (listener) => {
      take = listener;
      lookLater();
      return () => {
        closed = true;
        take = undefined;
        timer?.cancel();
        guard.release();
      };
    },
    release: () => guard.release(),
    awake: () => {
      if (closed) return;
      guard.awake();
      void look();
    },
  };
}
