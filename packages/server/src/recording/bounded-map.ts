/**
 * A map that holds at most `max` entries, and always the newest half of that. The older half goes at once: taking single entries
 * from the front of a large map would cost a look at all that were taken before.
 */
export class BoundedMap<K, V> {
  readonly #half: number;
  readonly #onForget: ((value: V) => void) | undefined;
  #old = new Map<K, V>();
  #young = new Map<K, V>();

  /** `onForget` hears of each value once, the oldest first. */
  constructor(max: number, onForget?: (value: V) => void) {
    this.#half = Math.max(1, Math.floor(max / 2));
    this.#onForget = onForget;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** A key that is there keeps its age. */
  set(key: K, value: V): void {
    if (this.#old.has(key)) {
      this.#old.set(key, value);
      return;
    }
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#forget(this.#old);
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  /** Forgets everything. */
  drain(): void {
    for (const half of [this.#old, this.#young]) this.#forget(half);
    this.#old = new Map();
    this.#young = new Map();
  }

  #forget(half: ReadonlyMap<K, V>): void {
    if (this.#onForget !== undefined) for (const value of half.values()) this.#onForget(value);
  }
}
