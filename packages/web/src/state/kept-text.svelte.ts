import type { Drafts } from "./drafts.ts";

/** Text of a field that outlives the field and the page. Its element carries `data-kept`. */
export class KeptText {
  #text: string;
  readonly #drafts: Drafts;
  readonly #place: string;

  constructor(drafts: Drafts, place: string) {
    this.#drafts = drafts;
    this.#place = place;
    this.#text = $state(drafts.read(place));
  }

  get text(): string {
    return this.#text;
  }
  set text(text: string) {
    this.#text = text;
    this.#drafts.write(this.#place, text);
  }
}
