/**
 * A window of a file's lines, found by looking through its bytes block by block: memory holds one block and the lines shown,
 * however large the file or its lines are.
 */
import { toolLimits } from "./limits.ts";

export interface WindowRequest {
  /** Line number of the first line shown, from 1. */
  readonly first: number;
  readonly count: number;
  /** Asks for bytes at a position; 0 at the end. */
  readonly read: (into: Uint8Array, position: number) => Promise<number>;
  /** After the window: whether to look on to the end for the number of lines. */
  readonly countAll: boolean;
  readonly signal: AbortSignal;
}

export interface LineWindow {
  readonly lines: readonly string[];
  /** The line to go on with; null when the window reaches the end. */
  readonly next: number | null;
  /** Lines in the whole file; null when that was not looked for. */
  readonly total: number | null;
  /** Some bytes were no UTF-8 and are shown as U+FFFD. */
  readonly invalid: boolean;
  /** The scan met its limit before the window. */
  readonly tooFar: boolean;
}

const keptBytesMax = toolLimits.lineCharsMax * 4;

class Collector {
  readonly lines: string[] = [];
  full = false;
  invalid = false;
  #line: Uint8Array[] = [];
  #kept = 0;
  #length = 0;
  #chars = 0;
  readonly #request: WindowRequest;

  constructor(request: WindowRequest) {
    this.#request = request;
  }

  wants(line: number): boolean {
    return !this.full && line >= this.#request.first;
  }

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    const room = keptBytesMax - this.#kept;
    if (room <= 0) return;
    // A copy: the block is read into again.
    this.#line.push(bytes.slice(0, room));
    this.#kept += Math.min(room, bytes.length);
  }

  /** Answers false when the line did not fit any more. */
  end(line: number): boolean {
    const text = this.#text(line);
    this.#line = [];
    this.#kept = 0;
    this.#length = 0;
    if (this.lines.length > 0 && this.#chars + text.length > toolLimits.readCharsMax) {
      this.full = true;
      return false;
    }
    this.lines.push(text);
    this.#chars += text.length + 1;
    if (this.lines.length >= this.#request.count) this.full = true;
    return true;
  }

  #text(line: number): string {
    const bytes = Buffer.concat(this.#line);
    const clipped = this.#length > bytes.length;
    const start = line === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    const end = !clipped && bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length;
    const shown = bytes.subarray(start, end);
    let text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(shown, { stream: clipped });
    if (text.includes("\ufffd") && !shown.includes("\ufffd")) this.invalid = true;
    if (!clipped && text.length <= toolLimits.lineCharsMax) return text;
    text = text.slice(0, toolLimits.lineCharsMax);
    if (/[\ud800-\udbff]$/.test(text)) text = text.slice(0, -1);
    return `${text}⟨line cut, ${this.#length} bytes⟩`;
  }
}

export async function readWindow(request: WindowRequest): Promise<LineWindow> {
  const block = new Uint8Array(toolLimits.readBlockBytes);
  const collector = new Collector(request);
  let position = 0;
  let line = 1;
  let next: number | null = null;
  let open = false;
  for (;;) {
    request.signal.throwIfAborted();
    if (collector.full && next !== null && !request.countAll) break;
    if (!collector.full && position > toolLimits.readScanBytesMax) {
      return { lines: collector.lines, next: null, total: null, invalid: collector.invalid, tooFar: true };
    }
    const got = await request.read(block, position);
    if (got === 0) {
      if (open && collector.wants(line) && !collector.end(line)) next ??= line;
      const total = open ? line : line - 1;
      return { lines: collector.lines, next, total, invalid: collector.invalid, tooFar: false };
    }
    for (let from = 0; from < got; ) {
      const found = block.subarray(0, got).indexOf(0x0a, from);
      const end = found === -1 ? got : found;
      if (collector.full) next ??= line;
      if (collector.wants(line)) collector.add(block.subarray(from, end));
      open = found === -1;
      if (found === -1) break;
      if (collector.wants(line) && !collector.end(line)) next ??= line;
      line += 1;
      from = found + 1;
    }
    position += got;
  }
  return { lines: collector.lines, next, total: null, invalid: collector.invalid, tooFar: false };
}
