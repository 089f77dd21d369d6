/** What followers of one tab have seen, over all lives of the server, and whether a log still holds it. */
import { isDeepStrictEqual } from "node:util";
import type { ChunkId, LogChunk, TabState } from "@varve/protocol";

/** One open block that a follower saw grow before a kill, and what a restart kept of it. In characters. */
export interface Share {
  readonly seen: number;
  readonly kept: number;
}

export class Witness {
  readonly #rows = new Map<number, LogChunk>();
  /** Text and thinking that was open at the last kill, as far as it was seen. */
  #open = new Map<ChunkId, string>();

  /** What a follower knows when its stream has ended. */
  saw(state: TabState): void {
    for (const { row } of state.sealed.values()) this.#rows.set(row.seq, row);
    for (const { id, block, text } of state.open.values()) {
      if (block.role === "assistant" && block.type !== "tool_call" && text.length > (this.#open.get(id)?.length ?? 0))
        this.#open.set(id, text);
    }
  }

  /** A line for each row that was seen sealed and is not there now, byte for byte, with its seq, id and term. */
  rowProblems(rows: readonly LogChunk[]): readonly string[] {
    return [...this.#rows].flatMap(([seq, seen]) => {
      const now = rows[seq - 1];
      return isDeepStrictEqual(now, seen) && JSON.stringify(now?.data) === JSON.stringify(seen.data)
        ? []
        : [`row ${seq} was seen as ${JSON.stringify(seen)} and is ${JSON.stringify(now ?? null)}`];
    });
  }

  /** What became of the blocks that were open at the kill; they are forgotten with it. */
  settleOpen(rows: readonly LogChunk[]): { readonly shares: readonly Share[]; readonly problems: readonly string[] } {
    const shares: Share[] = [];
    const problems: string[] = [];
    for (const [id, seen] of this.#open) {
      const row = rows.find((one) => one.id === id);
      const kept = row?.type === "text" || row?.type === "thinking" ? row.data : null;
      const text = kept?.text ?? "";
      if (!text.startsWith(seen) && !seen.startsWith(text)) problems.push(`block ${id} was kept as another text`);
      if (kept !== null && text.length < seen.length && kept.partial !== true)
        problems.push(`block ${id} is shorter than what was seen of it, and does not say that it is partial`);
      shares.push({ seen: seen.length, kept: Math.min(text.length, seen.length) });
    }
    this.#open = new Map();
    return { shares, problems };
  }
}
