/**
 * The scheduler of a simulated world. Everything that can happen next stands in one queue: an answer of the disk, a frame on a
 * wire, a part of a model's stream, a timer, an act of a person, a fault. Each has a due time; of those due at one moment the
 * seed picks the next. Time moves only here, and between two events all promises come to rest.
 */
import { assert } from "@varve/protocol";
import type { Prng } from "../prng.ts";

/** What an event belongs to: a process, a page. Once it is dead, nothing of it happens any more. */
export interface Lifetime {
  alive: boolean;
}

export interface Scheduled {
  /** Idempotent; after it the event never happens. */
  cancel(): void;
}

interface Event extends Scheduled {
  readonly at: number;
  readonly tie: number;
  readonly order: number;
  readonly kind: string;
  readonly life: Lifetime;
  run: (() => void) | null;
}

export class EventQueue {
  /** Milliseconds since the world began. */
  now = 0;
  /** Events that happened. */
  count = 0;
  readonly counts = new Map<string, number>();
  /** Changes with every event's kind and time: two runs with equal hashes did the same. */
  hash = 0x811c9dc5;
  readonly #prng: Prng;
  readonly #heap: Event[] = [];
  #order = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  after(delayMs: number, what: { readonly kind: string; readonly life: Lifetime }, run: () => void): Scheduled {
    assert(delayMs >= 0 && Number.isFinite(delayMs), `an event cannot be due in ${delayMs} ms`);
    const event: Event = {
      at: this.now + delayMs,
      tie: this.#prng.uint32(),
      order: ++this.#order,
      kind: what.kind,
      life: what.life,
      run,
      cancel() {
        event.run = null;
      },
    };
    this.#push(event);
    return event;
  }

  /** Resolves as an event of its own; never when its owner is dead by then. */
  pause(delayMs: number, what: { readonly kind: string; readonly life: Lifetime }): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, what, resolve));
  }

  /** Lets the next event happen and all that follows from it without waiting. False: nothing is left. */
  async step(): Promise<boolean> {
    for (;;) {
      const event = this.#pop();
      if (event === undefined) return false;
      const { run } = event;
      if (run === null || !event.life.alive) continue;
      this.now = Math.max(this.now, event.at);
      this.count += 1;
      this.counts.set(event.kind, (this.counts.get(event.kind) ?? 0) + 1);
      this.#mix(event.kind);
      run();
      await atRest();
      return true;
    }
  }

  #mix(kind: string): void {
    let hash = this.hash;
    for (let at = 0; at < kind.length; at += 1) hash = Math.imul(hash ^ kind.charCodeAt(at), 0x01000193);
    this.hash = Math.imul(hash ^ (this.now | 0), 0x01000193) >>> 0;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isLeft = right === undefined || isBefore(left, right);
      const child = isLeft ? left : right;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = isLeft ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  if (one.at !== other.at) return one.at < other.at;
  return one.tie === other.tie ? one.order < other.order : one.tie < other.tie;
}

/** One turn of the event loop: promises settle wholly before it comes, and no port of a world needs more. */
export const atRest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
