/** Which call ids a log has used, so that each call has a name of its own on the wire. */

interface Use {
  readonly times: number;
  /** The newest call of this id has no result. */
  readonly unanswered: boolean;
}

const never: Use = { times: 0, unanswered: false };

export class CallIds {
  readonly #uses = new Map<string, Use>();
  readonly #below: CallIds | null;

  /** What is noted here is not noted in `below`: for rows that are folded again with the next request. */
  constructor(below: CallIds | null = null) {
    this.#below = below;
  }

  /** How often the id was used before. */
  use(id: string): number {
    const { times } = this.of(id);
    this.#uses.set(id, { times: times + 1, unanswered: true });
    return times;
  }

  answer(id: string): void {
    this.#uses.set(id, { ...this.of(id), unanswered: false });
  }

  of(id: string): Use {
    return this.#uses.get(id) ?? this.#below?.of(id) ?? never;
  }
}
