/**
 * CONTRACT between the loop and the owner of a tab (`server/tab-actor.ts`; a small one in tests). The loop decides what
 * comes next from the sealed rows; the owner writes, announces and waits.
 *
 * The loop may rely on: what `seal` answered is durable and in `rows()`, and its ops were announced after the commit; one
 * `seal` runs at a time, in call order; after `cancel` aborts, `seal` still works, so that the turn can end well.
 * The loop must never: emit for a row that it does not then seal or drop, call anything after `endTurn` answered, or throw.
 */
import type { ChunkId, NewRow, OpenBlock, StoredRow, TabStatus, TurnEndReason, TurnId } from "@varve/protocol";

/** A tool that runs, as the owner knows it. */
export interface RunningTool {
  /** Its work can go on without the call: `move` answers at once whether it does (see `ToolRun.canMove`). */
  canMove(move: () => boolean): void;
  /** It answered, or is not waited for any more. Called once. */
  ended(): void;
}

/** The tab lost its owner (`fenced`), or the log cannot be written and the owner gave up waiting: the loop stops at once. */
export class OwnerGone extends Error {
  override readonly name = "OwnerGone";
}

export interface TurnOwner {
  /** All sealed rows of the tab's log, ascending, as they are now. */
  rows(): readonly StoredRow[];
  /**
   * Seals these rows, in this order, in one transaction. A row whose id was announced by `open` replaces that open block.
   * A disk fault is not answered: the owner keeps the rows in memory, shows the fault and tries again until it can.
   * Rejects with `OwnerGone` alone. A row refused with `result-already-sealed` is left out of the answer.
   */
  seal(rows: readonly NewRow[]): Promise<readonly StoredRow[]>;
  /** A block began. Its text is journaled with each flush. */
  open(block: Omit<OpenBlock, "offset" | "text">): void;
  /** Its text grew. `text` is appended; the owner keeps the offset. */
  grow(id: ChunkId, text: string): void;
  /** It will never seal (a voided step's, an empty one). */
  drop(id: ChunkId): void;
  /** Output of a running tool past its live limit: total bytes and the last 4 KiB. */
  output(callId: string, bytes: number, tail: string): void;
  /** The turn is at this step, or waits to try it again. The owner derives the rest of the status. */
  progress(step: number, retry?: TabStatus["retry"]): void;
  /**
   * Seals `asked` unless a row of its askId is there, shows the tab as waiting, and answers with the `answered` row once a
   * person's answer is sealed. Null when the turn was stopped first, or when `signal` aborts (this one call was stopped):
   * then the question waits for nobody any more.
   */
  ask(asked: NewRow, signal: AbortSignal): Promise<StoredRow | null>;
  /**
   * A person asked for a compaction while this turn runs: true once, then false until asked again. The loop looks at each step
   * boundary.
   */
  takeCompactionWish(): boolean;
  /** Moves waiting steers into the log as user rows of this turn and step, in queue order, one transaction. How many. */
  drainSteers(turnId: TurnId, step: number): Promise<number>;
  /**
   * Seals `rows` and then a `turn-end` row in one transaction. For any reason but `done` every waiting message is held in
   * the same transaction.
   */
  endTurn(reason: TurnEndReason, rows: readonly NewRow[]): Promise<void>;
  /** Aborts when the turn is stopped (reason "stopped"), its deadline comes ("deadline"), or the server ends ("restart"). */
  readonly cancel: AbortSignal;
  /** Aborts when this one call is stopped. */
  cancelOf(callId: string): AbortSignal;
  /** A tool begins to run now: it waits for no permission, no lock and no place any more. */
  runs(call: { readonly callId: string; readonly name: string }): RunningTool;
}
