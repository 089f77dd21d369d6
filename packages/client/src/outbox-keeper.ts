/**
 * Keeps the store of the outbox in step with memory, and says whether it does.
 *
 * Memory is what counts: no message waits for the store before it is shown or sent. Only the very first sending waits until
 * the store was read, for a moment at most, so that what an earlier life of the page left goes out first.
 */
import type { Clock, Timer } from "@varve/protocol";
import type { OutboxState, OutboxStore, StoredOutboxEntry } from "./client.ts";
import type { StoreChange } from "./outbox.ts";

/** A store that does not answer for so long holds up no sending any more. */
export const storeWaitMs = 2_000;
/** The store is read again after a failure, so often and so far apart; then this page does without what is in it. */
export const loadTriesMax = 4;
export const loadRetryMs = 5_000;

export interface KeeperEvents {
  /** From the store, now or later. */
  readonly entries: (entries: readonly StoredOutboxEntry[]) => void;
  /** Sending may begin. Once. */
  readonly ready: () => void;
  readonly changed: () => void;
}

export class OutboxKeeper {
  readonly #store: OutboxStore;
  readonly #clock: Clock;
  readonly #events: KeeperEvents;
  #state: OutboxState = { kind: "opening" };
  #ready = false;
  #closed = false;
  #wait: Timer | undefined;
  #retry: Timer | undefined;
  #stopAdopting: (() => void) | undefined;
  #writes: Promise<void> = Promise.resolve();
  /** What the store did not take; the last change of each message. Tried again with the next change. */
  readonly #owed = new Map<string, StoreChange>();

  constructor(store: OutboxStore, clock: Clock, events: KeeperEvents) {
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
  }

  get ready(): boolean {
    return this.#ready;
  }
  state(): OutboxState {
    return this.#state;
  }

  start(): void {
    this.#wait = this.#clock.setTimer(storeWaitMs, () => this.#begin());
    this.#stopAdopting = this.#store.adopted?.((entries) => {
      if (!this.#closed) this.#events.entries(entries);
    });
    void this.#load(1);
  }

  /** One change after the other: a later one of the same message must never be overtaken by an earlier one. */
  write(changes: readonly StoreChange[]): void {
    if (changes.length === 0) return;
    for (const change of changes) this.#owed.set(idOf(change), change);
    this.#writes = this.#writes.then(() => this.#writeOwed());
  }

  close(): void {
    this.#closed = true;
    this.#wait?.cancel();
    this.#retry?.cancel();
    this.#stopAdopting?.();
  }

  async #load(attempt: number): Promise<void> {
    const entries = await this.#store.load().catch(() => null); // The state says that it was refused.
    if (this.#closed) return;
    if (entries === null) {
      this.#setState(refused);
      if (attempt < loadTriesMax) this.#retry = this.#clock.setTimer(loadRetryMs, () => void this.#load(attempt + 1));
    } else {
      if (this.#owed.size === 0) this.#setState(kept);
      this.#events.entries(entries);
    }
    this.#begin();
  }

  async #writeOwed(): Promise<void> {
    for (const change of [...this.#owed.values()]) {
      const act = change.kind === "put" ? this.#store.put(change.entry) : this.#store.remove(change.id);
      const taken = await act.then(
        () => true,
        () => false, // A full or forbidden store: memory still holds the message, and the state says so.
      );
      if (!taken) {
        this.#setState(refused);
        return;
      }
      if (this.#owed.get(idOf(change)) === change) this.#owed.delete(idOf(change));
    }
    if (this.#owed.size === 0) this.#setState(kept);
  }

  #begin(): void {
    this.#wait?.cancel();
    if (this.#ready || this.#closed) return;
    this.#ready = true;
    this.#events.ready();
  }

  #setState(state: OutboxState): void {
    if (state === this.#state || this.#closed) return;
    this.#state = state;
    this.#events.changed();
  }
}

const idOf = (change: StoreChange): string => (change.kind === "put" ? change.entry.id : change.id);

const kept: OutboxState = { kind: "kept" };
const refused: OutboxState = {
  kind: "memory",
  message:
    "The browser stores nothing for this page (a private window, or a full disk). What is not sent yet is gone when the page is closed.",
};
