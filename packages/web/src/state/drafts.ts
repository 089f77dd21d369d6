/**
 * Unsent text, per tab, kept over a reload. A store that is full, forbidden or damaged costs the draft's survival of a
 * reload and nothing else: the text on screen is the composer's own.
 */
export interface TextStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export const DRAFT_CHARS_MAX = 100_000;
const keyOf = (place: string): string => `varve.draft.${place}`;

export class Drafts {
  readonly #store: TextStore | null;

  constructor(store: TextStore | null) {
    this.#store = store;
  }

  read(place: string): string {
    try {
      return this.#store?.getItem(keyOf(place)) ?? "";
    } catch {
      return ""; // Storage may be forbidden; an unread draft is an empty one.
    }
  }

  /** Longer drafts than `DRAFT_CHARS_MAX` are kept on screen only. */
  write(place: string, text: string): void {
    try {
      if (text === "" || text.length > DRAFT_CHARS_MAX) this.#store?.removeItem(keyOf(place));
      else this.#store?.setItem(keyOf(place), text);
    } catch {
      // Full or forbidden storage: the text is still in the composer.
    }
  }
}
