/** A map that forgets its oldest entry when it is full. */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #onForget: ((value: V) => void) | undefined;
  readonly #entries = new Map<K, V>();

  constructor(max: number, onForget?: (value: V) => void) {
    this.#max = max;
    this.#onForget = onForget;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** A key that is there keeps its age. */
  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const oldest = this.#entries.entries().next();
    if (oldest.done === true) return;
    this.#entries.delete(oldest.value[0]);
    this.#onForget?.(oldest.value[1]);
  }

  /** Forgets everything, the oldest first. */
  drain(): void {
    for (const value of this.#entries.values()) this.#onForget?.(value);
    this.#entries.clear();
  }
}
