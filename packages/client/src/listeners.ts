/** Tells listeners that something changed: any number of changes within one microtask are told once. */
export class Listeners {
  readonly #listeners = new Set<() => void>();
  #due = false;

  /** Returns the way to stop, which may be called at any time, also from within a listener. */
  add(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  changed(): void {
    if (this.#due || this.#listeners.size === 0) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
    });
  }

  clear(): void {
    this.#listeners.clear();
  }
}
