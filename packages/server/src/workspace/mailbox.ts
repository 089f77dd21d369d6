/**
 * One thing at a time. Every act that changes a tab runs through its mailbox, so that nothing happens between reading the
 * tab's state and writing what was decided on it. Acts run in the order in which they were handed in.
 */
export class Mailbox {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Acts that wait or run. */
  get load(): number {
    return this.#waiting;
  }

  /** An act must never wait for another act of the same mailbox. */
  run<T>(act: () => Promise<T> | T): Promise<T> {
    this.#waiting++;
    const result = this.#tail.then(act);
    // The caller gets the rejection; the next act must run all the same.
    this.#tail = result.then(
      () => this.#left(),
      () => this.#left(),
    );
    return result;
  }

  #left(): void {
    this.#waiting--;
  }
}
