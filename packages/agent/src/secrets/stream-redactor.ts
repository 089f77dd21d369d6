/**
 * Takes secrets out of a text that comes in pieces, however they are split: what may be the beginning of a secret is held
 * back until it is known. For every split the pieces that come out are, put together, the text as `redactText` makes it of
 * the whole.
 *
 * At most one form of a secret less a character is held back, so memory and delay are bounded by the longest secret.
 */
import { type Matcher, redactCut, secretMark } from "./matcher.ts";

export class StreamRedactor {
  readonly #matcher: () => Matcher;
  #held = "";
  #changed = false;

  /** `matcher` is asked at each piece: a secret that becomes known meanwhile is replaced from then on. */
  constructor(matcher: () => Matcher) {
    this.#matcher = matcher;
  }

  /** Whether a secret was taken out so far. */
  get changed(): boolean {
    return this.#changed;
  }

  push(piece: string): string {
    if (piece === "") return "";
    const matcher = this.#matcher();
    const text = this.#held + piece;
    let clean = "";
    let from = 0;
    let open = matcher.openAt(text, 0);
    for (;;) {
      const found = matcher.next(text, from);
      // Only a secret that went over that place moves it: so the end is looked through once, however many there are.
      if (open < from) open = matcher.openAt(text, from);
      // What begins at the same place and may still grow is the longer one.
      if (found === null || open <= found.start) {
        this.#held = text.slice(open);
        return from === 0 && open === text.length ? text : clean + text.slice(from, open);
      }
      clean += text.slice(from, found.start) + secretMark;
      from = found.end;
      this.#changed = true;
    }
  }

  /** The text ends here. */
  end(): string {
    const matcher = this.#matcher();
    const rest = this.#held;
    this.#held = "";
    let clean = "";
    let from = 0;
    for (let found = matcher.next(rest, 0); found !== null; found = matcher.next(rest, from)) {
      clean += rest.slice(from, found.start) + secretMark;
      from = found.end;
      this.#changed = true;
    }
    return clean + rest.slice(from);
  }

  /** The text is cut off here: the beginning of a secret that it ends in is replaced too. */
  cut(): string {
    const rest = this.end();
    const clean = redactCut(this.#matcher(), rest);
    this.#changed ||= clean !== rest;
    return clean;
  }
}
