/**
 * One browser profile for tests: a database and locks that pages share, a clock that all of them read, and pages that may
 * be closed, crash, freeze and thaw. No call of the database is answered before the test (or its scheduler) lets it.
 */
import type { ChunkId, Clock, Timer } from "@varve/protocol";
import { leaseGuard, type OwnerGuard, webLockGuard } from "../adapters/owner-guard.ts";
import { type PageOutbox, pageOutbox } from "../adapters/page-outbox.ts";
import type { Lease, OwnedEntry, PageStore } from "../adapters/page-store.ts";
import type { StoredOutboxEntry } from "../client.ts";
import { StillClock } from "./net.ts";
import { chunkId, theTab } from "./owner.ts";

export const storedEntry = (id: string): StoredOutboxEntry => ({
  tabId: theTab,
  id: chunkId(id),
  text: id,
  attachments: [],
  delivery: "steer",
  at: 1,
});

export interface ProfileOptions {
  /** Called before each transaction; it runs when the promise resolves. */
  readonly pause?: () => Promise<unknown>;
  readonly guard?: "lease" | "locks";
}

export class Profile {
  readonly clock = new StillClock();
  readonly rows = new Map<ChunkId, OwnedEntry>();
  readonly leases = new Map<string, Lease>();
  readonly locks = new FakeLocks();
  /** What the device's clock says beyond the time that has passed; timers know nothing of it. */
  skewMs = 0;
  /** The browser refuses storage. */
  refusing = false;
  /** Who got an entry of whom, in order. */
  readonly moves: { readonly id: ChunkId; readonly from: string; readonly to: string }[] = [];
  readonly #options: ProfileOptions;

  constructor(options: ProfileOptions = {}) {
    this.#options = options;
  }

  store(alive: () => boolean): PageStore {
    const run = async <T>(act: () => T): Promise<T> => {
      await this.#options.pause?.();
      // What a page that crashed had asked for never happens, and nobody hears of it.
      if (!alive()) return await new Promise<never>(() => {});
      if (this.refusing) throw new Error("refused");
      return act();
    };
    return {
      all: () => run(() => [...this.rows.values()]),
      put: (entry) => run(() => void this.rows.set(entry.id, entry)),
      remove: (id) => run(() => void this.rows.delete(id)),
      putLease: (lease) => run(() => void this.leases.set(lease.owner, lease)),
      dropLease: (owner) => run(() => void this.leases.delete(owner)),
      takeOver: ({ from, to, allowed }) =>
        run(() => {
          if (!allowed(this.leases.get(from))) return [];
          this.leases.delete(from);
          const moved = [...this.rows.values()]
            .filter((row) => row.owner === from)
            .map((row) => ({ ...row, owner: to }));
          for (const row of moved) {
            this.rows.set(row.id, row);
            this.moves.push({ id: row.id, from, to });
          }
          return moved;
        }),
    };
  }

  page(owner: string): ProfilePage {
    return new ProfilePage(this, owner, this.#options.guard ?? "lease");
  }
}

export class ProfilePage {
  readonly owner: string;
  readonly outbox: PageOutbox;
  /** What this page has in memory: its own, what it took over, without what it has evidence for. */
  readonly memory = new Set<ChunkId>();
  state: "living" | "frozen" | "closed" | "crashed" = "living";
  readonly #missed: (() => void)[] = [];
  readonly #locks: FakeLocks;

  constructor(profile: Profile, owner: string, kind: "lease" | "locks") {
    this.owner = owner;
    this.#locks = profile.locks;
    const store = profile.store(() => this.state !== "crashed");
    const clock = this.#clockOf(profile);
    const page = { store, owner };
    const guard: OwnerGuard =
      kind === "lease" ? leaseGuard(page, clock) : webLockGuard(profile.locks.of(this.owner), page);
    this.outbox = pageOutbox({ ...page, guard, clock });
  }

  async start(): Promise<void> {
    this.outbox.adopted((entries) => this.#remember(entries));
    this.#remember(await this.outbox.load());
  }
  async type(id: string): Promise<void> {
    this.memory.add(chunkId(id));
    await this.outbox.put(storedEntry(id));
  }
  /** The server has told what became of it. */
  async end(id: ChunkId): Promise<void> {
    this.memory.delete(id);
    await this.outbox.remove(id);
  }
  close(): void {
    this.outbox.release();
    this.state = "closed";
  }
  crash(): void {
    this.state = "crashed";
    this.#locks.gone(this.owner);
  }
  freeze(): void {
    this.state = "frozen";
  }
  thaw(): void {
    this.state = "living";
    for (const fire of this.#missed.splice(0)) fire();
    this.outbox.awake();
  }

  #remember(entries: readonly StoredOutboxEntry[]): void {
    for (const entry of entries) this.memory.add(entry.id);
  }
  /** A frozen page's timers wait until it is thawed; those of one that is gone never run. */
  #clockOf(profile: Profile): Clock {
    const { clock } = profile;
    return {
      now: () => clock.now() + profile.skewMs,
      setTimer: (ms, fire): Timer => {
        let cancelled = false;
        const due = (): void => {
          if (cancelled || this.state === "closed" || this.state === "crashed") return;
          if (this.state === "frozen") this.#missed.push(due);
          else fire();
        };
        const timer = clock.setTimer(ms, due);
        return {
          cancel: () => {
            cancelled = true;
            timer.cancel();
          },
        };
      },
    };
  }
}

/** The two ways in which the guard asks, as the Web Locks interface defines them. */
class FakeLocks {
  readonly held = new Map<string, string>();
  readonly waiting = new Map<string, (() => void)[]>();

  of(page: string): LockManager {
    const request = async (name: string, ...rest: readonly unknown[]): Promise<unknown> => {
      const act = rest.at(-1);
      if (typeof act !== "function") throw new Error("a lock is asked for with something to do");
      const ifAvailable = rest.length > 1;
      if (this.held.has(name)) {
        if (ifAvailable) return await act(null);
        await new Promise<void>((granted) => this.waiting.set(name, [...(this.waiting.get(name) ?? []), granted]));
      }
      this.held.set(name, page);
      try {
        return await act({ name });
      } finally {
        this.#free(name);
      }
    };
    // The rest of the interface is not used by the guard.
    return { request } as unknown as LockManager;
  }
  /** The browser frees the locks of a page that is gone. */
  gone(page: string): void {
    for (const [name, holder] of this.held) if (holder === page) this.#free(name);
  }
  #free(name: string): void {
    this.held.delete(name);
    this.waiting.get(name)?.shift()?.();
  }
}
