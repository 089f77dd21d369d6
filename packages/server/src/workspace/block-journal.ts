/**
 * Writes the text of open blocks to the side file, so that a killed server can seal them as partial: before a client is shown
 * it, and at most `flushMs` late when none is. Small, rare writes: what came since the last flush goes in one batch.
 */
import type { Journal, JournalEntry } from "@varve/log";
import type { ChunkId, Clock, JsonObject, LogId, OpenBlock, TabId, Timer } from "@varve/protocol";

const flushMs = 33;

export class BlockJournal {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #tabId: TabId;
  #entries: JournalEntry[] = [];
  #text = new Map<ChunkId, { offset: number; text: string }>();
  #timer: Timer | null = null;

  constructor(ports: { readonly journal: Journal; readonly clock: Clock; readonly tabId: TabId }) {
    this.#journal = ports.journal;
    this.#clock = ports.clock;
    this.#tabId = ports.tabId;
  }

  opened(logId: LogId, block: Omit<OpenBlock, "offset" | "text">): void {
    const { id, ...rest } = block;
    // A block's fields are strings and numbers; dropping the absent ones makes it plain JSON.
    const meta = JSON.parse(JSON.stringify(rest)) as JsonObject;
    this.#entries.push({ entry: "open", tabId: this.#tabId, logId, id, meta });
    this.#soon();
  }

  grew(id: ChunkId, offset: number, text: string): void {
    const waiting = this.#text.get(id);
    if (waiting === undefined) this.#text.set(id, { offset, text });
    else waiting.text += text;
    this.#soon();
  }

  /** The block is sealed or dropped: nothing of it needs to be kept. */
  closed(id: ChunkId): void {
    this.#text.delete(id);
    this.#entries.push({ entry: "closed", tabId: this.#tabId, id });
    this.#soon();
  }

  flush(): void {
    // As long as anything waits, so does the timer.
    if (this.#timer === null) return;
    this.#timer.cancel();
    this.#timer = null;
    for (const [id, { offset, text }] of this.#text) {
      this.#entries.push({ entry: "text", tabId: this.#tabId, id, offset, text });
    }
    this.#text.clear();
    if (this.#entries.length === 0) return;
    this.#journal.write(this.#entries);
    this.#entries = [];
  }

  #soon(): void {
    this.#timer ??= this.#clock.setTimer(flushMs, () => this.flush());
  }
}
