import type { Clock, IdMaker, NewRow, StoredRow } from "@varve/protocol";
import type { ToolBox } from "../tools/tool.ts";

/** Reading of the surroundings, injected. None throws; each is bounded in time and size. */
export interface ContextOperations {
  /** The text up to `charsMax`; null when there is no such file or it cannot be read. */
  readText(
    path: string,
    charsMax: number,
  ): Promise<{ readonly text: string; readonly bytes: number; readonly clipped: boolean } | null>;
  /** Names in a directory, folders with a trailing "/", sorted; null when it cannot be read. */
  list(path: string, max: number): Promise<{ readonly names: readonly string[]; readonly more: number } | null>;
  /** The repository's root, branch and number of changed files; null outside a repository or when git takes too long. */
  git(cwd: string): Promise<{ readonly root: string; readonly branch: string; readonly changed: number } | null>;
  /** For the note: "Linux 6.1 (x64)", "/bin/bash". */
  readonly system: string;
  readonly shell: string;
}

export interface TabContext {
  readonly operations: ContextOperations;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly tools: ToolBox;
  /** `VARVE_HOME`. */
  readonly home: string;
  readonly cwd: string;
  readonly model: string;
  readonly effort: string;
}

/**
 * Rows that must be sealed before the next turn's user row, in the same transaction: for an empty log `prefix`,
 * `model-changed` and the environment note; later a `model-changed` and a note when something changed.
 */
export async function rowsBeforeTurn(_context: TabContext, _rows: readonly StoredRow[]): Promise<readonly NewRow[]> {
  throw new Error("rowsBeforeTurn is being written");
}
