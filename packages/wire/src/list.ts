/** What can be read like an array. */
export type List<T> = Pick<readonly T[], "length" | "at">;

/** Two lists as one, as they are now, without a copy. `first` may grow behind it, and never changes otherwise. */
export class JoinedList<T> implements List<T> {
  readonly #first: readonly T[];
  readonly #second: readonly T[];
  readonly #count: number;

  constructor(first: readonly T[], second: readonly T[]) {
    this.#first = first;
    this.#second = second;
    this.#count = first.length;
  }

  get length(): number {
    return this.#count + this.#second.length;
  }

  at(index: number): T | undefined {
    const place = index < 0 ? this.length + index : index;
    return place < this.#count ? this.#first[place] : this.#second[place - this.#count];
  }

  toArray(): T[] {
    const { length } = this.#first;
    return length === this.#count
      ? this.#first.concat(this.#second)
      : this.#first.slice(0, this.#count).concat(this.#second);
  }
}
