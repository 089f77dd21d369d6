/**
 * Server-sent events as a pure reader: text goes in, cut anywhere, whole events come out. Only what the protocol's twin of
 * the socket uses: `data` and `id` fields, comments, any of the three line ends.
 */
export interface SseEvent {
  readonly data: string;
  /** The last id seen up to this event; "" before the first. */
  readonly id: string;
}

/** A longer event ends the stream: no frame is that long. */
export const eventCharsMax = 16 * 1024 * 1024;

export class SseReader {
  #rest = "";
  #data: string[] = [];
  #chars = 0;
  #id = "";

  /** The events that are complete with this piece. */
  read(piece: string): readonly SseEvent[] {
    const text = this.#rest + piece;
    const events: SseEvent[] = [];
    // What is left of earlier pieces was searched before, but for a carriage return at its end.
    let search = Math.max(0, this.#rest.length - 1);
    let start = 0;
    for (;;) {
      const end = lineEnd(text, search);
      if (end === null) break;
      const event = this.#line(text.slice(start, end.at));
      if (event !== null) events.push(event);
      start = end.next;
      search = start;
    }
    this.#rest = text.slice(start);
    if (this.#rest.length + this.#chars > eventCharsMax) throw new RangeError("an event of the stream is too long");
    return events;
  }

  #line(line: string): SseEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? "" : line.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (field === "data") {
      this.#data.push(value);
      this.#chars += value.length;
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value;
    }
    return null;
  }

  #dispatch(): SseEvent | null {
    if (this.#data.length === 0) return null;
    const event = { data: this.#data.join("\n"), id: this.#id };
    this.#data = [];
    this.#chars = 0;
    return event;
  }
}

/** A carriage return at the very end may be half of a pair: it is a line end only once the next character is there. */
function lineEnd(text: string, from: number): { readonly at: number; readonly next: number } | null {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\n") return { at, next: at + 1 };
    if (char !== "\r") continue;
    if (at + 1 === text.length) return null;
    return { at, next: text[at + 1] === "\n" ? at + 2 : at + 1 };
  }
  return null;
}
