/** Frames as a client reads them: checked against the schema, applied as a page does. */
import { applyHead, applyOps, emptyTabState, type Frame, type TabState } from "@varve/protocol";
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
