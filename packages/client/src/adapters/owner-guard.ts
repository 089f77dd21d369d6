/**
 * Whether the page that owns entries of the outbox has ended. Two ways of knowing: a Web Lock, which the browser frees with
 * the page, and, where there are none (plain http in a home network), a lease in the database that the page renews.
 *
 * A lease is a promise about time, so it can be wrong: a page that was frozen in the background, or a device whose clock
 * jumped, may find that another page has taken over what it owned. Then both have the messages in memory and both may send
 * them, which costs a frame and nothing else: each is sent under its own id, which the server takes once. And nothing is
 * lost, because an entry leaves the database only with evidence of its fate.
 */
import type { Clock, Timer } from "@varve/protocol";
import type { Lease, OwnedEntry, PageStore } from "./page-store.ts";

/**
 * How long a page counts as living after it last said so. Browsers let the timers of a hidden page run once a minute, so
 * this is more than twice that.
 */
export const leaseMs = 150_000;
export const leaseRenewMs = 20_000;

export interface OwnerGuard {
  /** This page lives from now on. Rejects when the browser refuses storage. */
  hold(): Promise<void>;
  /** Takes over the entries of an owner that has ended; none of one that lives. */
  takeOver(from: string): Promise<readonly OwnedEntry[]>;
  /** The page goes, perhaps into the browser's cache of pages. */
  release(): void;
  /** It was frozen or in that cache, and lives again. */
  awake(): void;
}

export interface GuardedPage {
  readonly store: PageStore;
  readonly owner: string;
}

const lockName = (owner: string): string => `varve-outbox-${owner}`;

export function webLockGuard(locks: LockManager, { store, owner }: GuardedPage): OwnerGuard {
  let held = false;
  let letGo = (): void => {};
  const hold = (): void => {
    if (held) return;
    held = true;
    const untilReleased = (): Promise<void> =>
      new Promise((resolve) => {
        letGo = resolve;
        if (!held) resolve();
      });
    locks.request(lockName(owner), untilReleased).catch(() => {}); // Refused only while the page is being torn down.
  };
  return {
    hold: async () => hold(),
    takeOver: (from) =>
      locks.request(lockName(from), { ifAvailable: true }, async (lock) =>
        lock === null ? [] : await store.takeOver({ from, to: owner, allowed: () => true }),
      ),
    release: () => {
      held = false;
      letGo();
    },
    awake: hold,
  };
}

/** A lease further ahead than any is given was written under a clock that has been set back since: it says nothing. */
export const holds = (lease: Lease, now: number): boolean => lease.until > now && lease.until - now <= leaseMs;

export function leaseGuard({ store, owner }: GuardedPage, clock: Clock): OwnerGuard {
  let renewal: Timer | undefined;
  const renew = (): Promise<void> => {
    renewal?.cancel();
    renewal = clock.setTimer(leaseRenewMs, renewQuietly);
    return store.putLease({ owner, until: clock.now() + leaseMs });
  };
  const renewQuietly = (): void => {
    renew().catch(() => {}); // Refused now: the next renewal tries again, and a lease that ends loses nothing.
  };
  return {
    hold: renew,
    takeOver: (from) => {
      const allowed = (lease: Lease | undefined): boolean => lease === undefined || !holds(lease, clock.now());
      return store.takeOver({ from, to: owner, allowed });
    },
    release: () => {
      renewal?.cancel();
      store.dropLease(owner).catch(() => {}); // Then the lease ends by itself.
    },
    awake: renewQuietly,
  };
}
