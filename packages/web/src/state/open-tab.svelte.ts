import type { RowGroup, TabHandle, TabSnapshot } from "@varve/client";
import { groupRows } from "@varve/client";
import type { LogChunk, PermissionSubject, PrefixStub, TurnId, Wait } from "@varve/protocol";
import { type TurnUsage, usageByTurn } from "../tab/usage.ts";

/** A question that waits for a person, with what it is about when its row is in the window. */
export type OpenQuestion =
  | { readonly kind: "permission"; readonly wait: Wait; readonly subject: PermissionSubject | null }
  | {
      readonly kind: "ask";
      readonly wait: Wait;
      readonly question: string | null;
      readonly options: readonly string[];
    }
  | { readonly kind: "limit"; readonly wait: Wait };

export type TextQuestion = Exclude<OpenQuestion, { readonly kind: "limit" }>;

/** Where the reader stood in a tab, by row and offset; null: at the end. */
export interface ReadingPlace {
  readonly rowKey: string;
  readonly offsetPx: number;
}

/** One tab as the page shows it: the snapshot of the client and what is derived from it. */
export class OpenTab {
  snapshot: TabSnapshot;
  readonly handle: TabHandle;
  place: ReadingPlace | null = null;
  readonly #stop: () => void;

  constructor(handle: TabHandle) {
    this.handle = handle;
    this.snapshot = $state.raw(handle.snapshot());
    this.#stop = handle.onChange(() => {
      this.snapshot = handle.snapshot();
    });
  }

  #former: readonly RowGroup[] = [];
  /** Groups that say the same keep their identity from one snapshot to the next. */
  readonly groups: readonly RowGroup[] = $derived.by(() => {
    this.#former = groupRows(this.snapshot, this.#former);
    return this.#former;
  });
  /** The last group of each ended turn carries what the turn took. */
  readonly turnFoots: ReadonlyMap<string, TurnUsage> = $derived.by(() => {
    const usage = usageByTurn(this.snapshot.rows);
    const lastGroups = new Map<TurnId, string>();
    for (const group of this.groups) if (group.kind === "assistant") lastGroups.set(group.turnId, group.key);
    const foots = new Map<string, TurnUsage>();
    for (const [turnId, key] of lastGroups) {
      const of = usage.get(turnId);
      if (of !== undefined) foots.set(key, of);
    }
    return foots;
  });
  readonly status = $derived.by(() => this.snapshot.status);
  /** A turn is open: messages sent now join it, wait for its end, or stop it. */
  readonly turnOpen: boolean = $derived.by(() => this.status.state === "running" || this.status.state === "waiting");
  readonly questions: readonly OpenQuestion[] = $derived.by(() =>
    this.status.waits.map((wait) => questionOf(wait, this.snapshot.rows)),
  );
  /** The first question that typed text can answer; a limit is answered by its buttons alone. */
  readonly textQuestion: TextQuestion | undefined = $derived.by(() =>
    this.questions.find((one) => one.kind !== "limit"),
  );
  /** seq of the newest row that moves cost or context, whoever made it; 0 without one in the window. */
  readonly lastMove: number = $derived.by(() => lastMoveOf(this.snapshot.rows));
  readonly prefix: PrefixStub | null = $derived.by(() => prefixOf(this.snapshot.rows));
  readonly empty: boolean = $derived.by(
    () =>
      this.snapshot.ready &&
      this.groups.length === 0 &&
      this.snapshot.pending.length === 0 &&
      this.snapshot.queue.length === 0,
  );

  /** Milliseconds from the row before this one; null when that is not in the window or belongs to another turn. */
  sinceRowBefore(row: LogChunk): number | null {
    const before = this.snapshot.rows[row.seq - this.snapshot.window.lo - 1];
    return before === undefined || before.turnId !== row.turnId ? null : Math.max(0, row.createdAt - before.createdAt);
  }

  close = (): void => {
    this.#stop();
    this.handle.close();
  };
}

function questionOf(wait: Wait, rows: readonly LogChunk[]): OpenQuestion {
  if (wait.kind === "limit") return { kind: "limit", wait };
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index];
    if (row?.type !== "system") continue;
    const { data } = row;
    if (data.kind === "permission" && data.state === "asked" && data.askId === wait.askId) {
      return { kind: "permission", wait, subject: data.subject };
    }
    if (data.kind === "ask" && data.state === "asked" && data.askId === wait.askId) {
      return { kind: "ask", wait, question: data.question, options: data.options };
    }
  }
  return wait.kind === "ask"
    ? { kind: "ask", wait, question: null, options: [] }
    : { kind: "permission", wait, subject: null };
}

/** A bill, what was told, rebuilt, summed up or undone, and another model, effort or lifetime. */
const MOVES: ReadonlySet<string> = new Set([
  "usage",
  "note",
  "prefix",
  "compaction",
  "compaction-undo",
  "model-changed",
  "context-changed",
]);

function lastMoveOf(rows: readonly LogChunk[]): number {
  const row = rows.findLast(({ type, data }) => type === "system" && "kind" in data && MOVES.has(data.kind));
  return row?.seq ?? 0;
}

/** The newest prefix is in force. The first one is the first row of a log: known while the window reaches that far up. */
function prefixOf(rows: readonly LogChunk[]): PrefixStub | null {
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index];
    if (row?.type === "system" && row.data.kind === "prefix") return row.data;
  }
  return null;
}
