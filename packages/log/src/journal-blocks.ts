/**
 * The open blocks that a journal holds, as a small state: opened in order, grown by pieces at offsets, closed. Texts
 * live in UTF-16 units; a piece that would leave a gap (one before it was lost) is left out, and so are all behind it.
 */
import type { ChunkId, JsonObject, LogId, TabId } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import type { JournalEntry, JournaledBlock } from "./log.ts";

interface OpenBlock {
  readonly tabId: TabId;
  readonly logId: LogId;
  readonly id: ChunkId;
  readonly meta: JsonObject;
  text: string;
}

export class JournalBlocks {
  readonly #blocks = new Map<string, OpenBlock>();

  apply(entry: JournalEntry): void {
    const key = `${entry.tabId}/${entry.id}`;
    switch (entry.entry) {
      case "open": {
        const { tabId, logId, id, meta } = entry;
        this.#blocks.set(key, { tabId, logId, id, meta, text: this.#blocks.get(key)?.text ?? "" });
        return;
      }
      case "text": {
        const block = this.#blocks.get(key);
        if (block !== undefined) block.text = joinPiece(block.text, entry.offset, entry.text);
        return;
      }
      case "closed":
        this.#blocks.delete(key);
        return;
      default:
        unreachable(entry);
    }
  }

  blocksOf(tabId: TabId): readonly JournaledBlock[] {
    const own = [...this.#blocks.values()].filter((block) => block.tabId === tabId);
    return own.map(({ logId, id, meta, text }) => ({ logId, id, meta, text }));
  }

  tabsWithBlocks(): readonly TabId[] {
    return [...new Set([...this.#blocks.values()].map((block) => block.tabId))];
  }

  clear(tabId: TabId): void {
    for (const [key, block] of this.#blocks) if (block.tabId === tabId) this.#blocks.delete(key);
  }
}

/** A piece sent twice, or overlapping, says the same text again. */
export const joinPiece = (text: string, offset: number, piece: string): string =>
  offset > text.length ? text : text.slice(0, offset) + piece + text.slice(offset + piece.length);
