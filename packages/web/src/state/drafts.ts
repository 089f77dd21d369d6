/**
 * Unsent text, by the place where it is typed, kept over a reload. A store that is full, forbidden or damaged costs the
 * text's survival of a reload and nothing else: while the page lives it is held here, and `unkept` says that a reload
 * would lose it.
 */
export interface TextStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** More than any message may have. A longer text lives as long as the page. */
export const DRAFT_CHARS_MAX = 300_000;
const keyOf = (place: string): string => `varve.draft.${place}`;

export class Drafts {
  readonly #store: TextStore | null;
  /** Texts that the store did not take. */
  readonly #unkept = new Map<string, string>();

  constructor(store: TextStore | null) {
    this.#store = store;
  }

  /** A text stands somewhere that the store did not take. */
  get unkept(): boolean {
    return this.#unkept.size > 0;
  }

  read(place: string): string {
    const held = this.#unkept.get(place);
    if (held !== undefined) return held;
    try {
      return this.#store?.getItem(keyOf(place)) ?? "";
    } catch {
      return ""; // Storage may be forbidden; an unread draft is an empty one.
    }
  }

  /** An empty text takes the draft away. */
  write(place: string, text: string): void {
    if (this.#keep(place, text)) this.#unkept.delete(place);
    else this.#unkept.set(place, text);
  }

  #keep(place: string, text: string): boolean {
    if (this.#store === null) return text === "";
    try {
      if (text === "" || text.length > DRAFT_CHARS_MAX) this.#store.removeItem(keyOf(place));
      else this.#store.setItem(keyOf(place), text);
      return text.length <= DRAFT_CHARS_MAX;
    } catch {
      return text === ""; // Full or forbidden storage: the text is held in memory, and counted as unkept.
    }
  }
}
