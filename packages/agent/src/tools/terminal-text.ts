/**
 * Bytes of a terminal's output to text, however they are split. Terminal sequences are removed, not executed; a carriage
 * return is executed: what follows it takes the line's place. Bytes that are no UTF-8 become U+FFFD and are noted; an output
 * that is binary yields no text at all.
 *
 *   bytes -> UTF-8 -> sequences removed (`live`) -> carriage returns executed (`text`)
 */
import { toolLimits } from "./limits.ts";

const escapeCode = 0x1b;
const bell = 0x07;
const csi = 0x9b;

type Inside = "text" | "escape" | "csi" | "string" | "string-escape" | "charset";

/** Removes terminal sequences and control characters other than tab, line feed, carriage return and backspace. */
class SequenceStripper {
  #inside: Inside = "text";
  #length = 0;

  strip(text: string): string {
    let out = "";
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inside === "text") {
        if (isPlain(code)) continue;
        out += text.slice(from, at);
        this.#begin(code);
      } else {
        this.#length += 1;
        this.#inside = this.#length > toolLimits.escapeCharsMax ? "text" : after(this.#inside, code);
      }
      from = at + 1;
    }
    return this.#inside === "text" ? out + text.slice(from) : out;
  }

  #begin(code: number): void {
    this.#length = 0;
    if (code === escapeCode) this.#inside = "escape";
    if (code === csi) this.#inside = "csi";
  }
}

function isPlain(code: number): boolean {
  if (code >= 0x20) return code < 0x7f || code > 0x9f;
  return code === 0x09 || code === 0x0a || code === 0x0d || code === 0x08;
}

/** Where a sequence stands after one more character. */
function after(inside: Exclude<Inside, "text">, code: number): Inside {
  switch (inside) {
    case "escape":
      if (code === 0x5b) return "csi";
      // OSC, DCS, SOS, PM and APC hold a text of their own, up to BEL or ESC \.
      if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) return "string";
      return code >= 0x20 && code <= 0x2f ? "charset" : "text";
    case "csi":
      if (code === escapeCode) return "escape";
      return code >= 0x40 && code <= 0x7e ? "text" : "csi";
    case "charset":
      return code >= 0x20 && code <= 0x2f ? "charset" : "text";
    case "string":
      if (code === escapeCode) return "string-escape";
      return code === bell || code === 0x9c ? "text" : "string";
    case "string-escape":
      return code === 0x5c ? "text" : "string";
  }
}

/** Executes carriage returns and backspaces. What it answers is final. */
class LineResolver {
  #line = "";
  #returned = false;

  push(text: string): string {
    if (!this.#returned && !text.includes("\r") && !text.includes("\b")) return this.#plain(text);
    let out = "";
    for (const part of text.split(/(\n|\r|[\b])/)) {
      if (part === "\n") {
        out += `${this.#line}\n`;
        this.#line = "";
        this.#returned = false;
      } else if (part === "\r") {
        this.#returned = true;
      } else if (part === "\b") {
        this.#line = this.#line.slice(0, -1);
      } else if (part !== "") {
        this.#line = this.#returned ? part : this.#line + part;
        this.#returned = false;
        out += this.#overflow();
      }
    }
    return out;
  }

  #plain(text: string): string {
    const end = text.lastIndexOf("\n") + 1;
    const out = end === 0 ? "" : this.#line + text.slice(0, end);
    this.#line = end === 0 ? this.#line + text : text.slice(end);
    return out + this.#overflow();
  }

  #overflow(): string {
    return this.#line.length > toolLimits.openLineCharsMax ? this.end() : "";
  }

  end(): string {
    const out = this.#line;
    this.#line = "";
    this.#returned = false;
    return out;
  }
}

export interface TerminalPiece {
  /** For a person who watches: sequences removed, carriage returns still in it. */
  readonly live: string;
  /** For the model: final text. */
  readonly text: string;
}

const nothing: TerminalPiece = { live: "", text: "" };

export class TerminalText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #stripper = new SequenceStripper();
  readonly #resolver = new LineResolver();
  #bytes = 0;
  #zeros = 0;
  #binary = false;
  #invalid = false;

  /** All bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }
  /** NUL bytes at the start, or many of them anywhere: none of it is text. */
  get binary(): boolean {
    return this.#binary;
  }
  /** Some bytes were no UTF-8. */
  get invalid(): boolean {
    return this.#invalid;
  }

  push(bytes: Uint8Array): TerminalPiece {
    this.#judge(bytes);
    this.#bytes += bytes.length;
    if (this.#binary) return nothing;
    const decoded = this.#decoder.decode(bytes, { stream: true });
    return this.#resolve(decoded, bytes);
  }

  end(): TerminalPiece {
    if (this.#binary) return nothing;
    const last = this.#resolve(this.#decoder.decode(), new Uint8Array(0));
    return { live: last.live, text: last.text + this.#resolver.end() };
  }

  #resolve(decoded: string, bytes: Uint8Array): TerminalPiece {
    if (decoded.includes("\ufffd") && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes("\ufffd")) {
      this.#invalid = true;
    }
    const live = this.#stripper.strip(decoded);
    return { live, text: this.#resolver.push(live) };
  }

  #judge(bytes: Uint8Array): void {
    for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) {
      this.#zeros += 1;
      const place = this.#bytes + at;
      if (place < toolLimits.binaryProbeBytes || this.#zeros * 100 > place) {
        this.#binary = true;
        return;
      }
    }
  }
}
