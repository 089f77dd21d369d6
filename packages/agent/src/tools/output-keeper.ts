/**
 * Keeps the start and the end of a text that has no bound, in bounded memory; the whole of it, up to a limit, goes to a
 * spill file from the moment on when it no longer fits.
 */
import { toolLimits } from "./limits.ts";
import type { SpillFile } from "./operations.ts";
import { cutEnd, cutStart } from "./outcome.ts";

const half = toolLimits.outputCharsMax / 2;

export class OutputKeeper {
  readonly #openSpill: () => SpillFile;
  #head = "";
  #tail = "";
  #chars = 0;
  #spill: SpillFile | null = null;
  #spilled = 0;
  /** The disk took no more: what is kept is the start and the end. */
  #broken = false;

  constructor(openSpill: () => SpillFile) {
    this.#openSpill = openSpill;
  }

  get isEmpty(): boolean {
    return this.#chars === 0;
  }

  append(text: string): void {
    if (text === "") return;
    const fits = this.#chars + text.length <= toolLimits.outputCharsMax;
    if (!fits) this.#keepWhole(text);
    this.#chars += text.length;
    const room = half - this.#head.length;
    this.#head += text.slice(0, Math.max(0, room));
    const rest = text.slice(Math.max(0, room));
    // The tail is cut only now and then, so that many small pieces cost no copy each.
    this.#tail = rest.length > half ? rest.slice(-half) : this.#tail + rest;
    if (this.#tail.length > 4 * half) this.#tail = this.#tail.slice(-half);
  }

  /** Start and end, with what was left out between them. */
  text(): string {
    if (this.#chars <= toolLimits.outputCharsMax) return this.#head + this.#tail;
    const head = cutEnd(this.#head, this.#head.length - 1);
    const tail = cutStart(this.#tail, half);
    const left = this.#chars - head.length - tail.length;
    return `${head}\n⟨${left} characters left out; ${this.#where()}⟩\n${tail}`;
  }

  /** The spilled bytes, or null when everything is in `text` or the disk failed. To be called after `close`. */
  spill(): Uint8Array | null {
    if (this.#spill === null || this.#broken) return null;
    try {
      return this.#spill.bytes();
    } catch {
      // The file was removed meanwhile, as its folder's limit demands.
      return null;
    }
  }

  close(): void {
    this.#spill?.close();
  }

  #where(): string {
    if (this.#spill === null || this.#broken) return "they could not be kept: the disk took no more";
    const whole = this.#spilled < toolLimits.spillBytesMax;
    const { path } = this.#spill;
    return whole ? `the whole output is in ${path}` : `its first ${this.#spilled} bytes are in ${path}`;
  }

  #keepWhole(text: string): void {
    if (this.#broken) return;
    try {
      if (this.#spill === null) {
        this.#spill = this.#openSpill();
        this.#toSpill(this.#spill, this.#head + this.#tail);
      }
      this.#toSpill(this.#spill, text);
    } catch {
      // Output must not end a command; the result says that the middle is lost.
      this.#broken = true;
    }
  }

  #toSpill(spill: SpillFile, text: string): void {
    if (this.#spilled >= toolLimits.spillBytesMax) return;
    const bytes = Buffer.from(text, "utf8").subarray(0, toolLimits.spillBytesMax - this.#spilled);
    spill.append(bytes);
    this.#spilled += bytes.length;
  }
}
