import type { JournaledBlock } from "@varve/log";
import type { IdMaker, NewRow, StoredRow, TurnId } from "@varve/protocol";

export interface RecoverInput {
  /** All sealed rows of the tab's log, ascending. */
  readonly rows: readonly StoredRow[];
  /** Blocks that the journal holds for this tab. */
  readonly blocks: readonly JournaledBlock[];
  readonly now: number;
  readonly ids: IdMaker;
}

export interface Recovery {
  /** Appended in one transaction, in this order; a `turn-end` stands last unless the turn goes on waiting. */
  readonly rows: readonly NewRow[];
  /** `waiting`: the turn stays open for a person's answer; the owner runs it again with `runTurn(ports, owner, turnId)`. */
  readonly resume: "none" | "waiting";
  /** The unfinished turn, or null when every turn had ended. */
  readonly turnId: TurnId | null;
}

export function recover(_input: RecoverInput): Recovery {
  throw new Error("recover is being written");
}
