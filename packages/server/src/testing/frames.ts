/** Frames as a client reads them: checked against the schema, applied as a page does. */
import { applyHead, applyOps, emptyTabState, type Frame, type LogChunk, type TabState } from "@varve/protocol";
import { frameSchema } from "@varve/protocol/schema";

export const parseFrame = (text: string): Frame => frameSchema.parse(JSON.parse(text));

/** What a client knows of a tab from its frames alone. Throws when frames in order could not be placed. */
export class View {
  state: TabState = emptyTabState;

  take(frame: Frame): void {
    const outcome =
      frame.type === "head"
        ? applyHead(this.state, frame, { answersSub: true })
        : frame.type === "ops"
          ? applyOps(this.state, frame)
          : null;
    if (outcome?.kind === "resub") throw new Error(`frames in order are never ahead: ${outcome.reason}`);
    if (outcome?.kind === "applied") this.state = outcome.state;
  }

  /** Everything that two clients at the same stamp must agree on. */
  shown(): unknown {
    const rows = [...this.state.sealed.values()].map((cell) => cell.row).toSorted((a, b) => a.seq - b.seq);
    const open = [...this.state.open.values()].map(({ id, text }) => ({ id, text }));
    const queue = [...this.state.queue.values()].map(({ message }) => message);
    return { rows, open, queue, status: this.state.status };
  }
}

/** The rows that a frame carries. */
export function rowsOf(frame: Frame): readonly LogChunk[] {
  if (frame.type === "head") return frame.rows;
  if (frame.type !== "ops") return [];
  return frame.ops.flatMap((op) => (op.op === "chunk-seal" ? [op.row] : []));
}

export const endsTurn = (frame: Frame): boolean =>
  frame.type === "ops" && rowsOf(frame).some((row) => row.type === "system" && row.data.kind === "turn-end");
