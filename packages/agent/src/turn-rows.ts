/** Reading the rows of one turn. Pure. */
import type { StoredRow, SystemData, ToolCallData, TurnId } from "@varve/protocol";

export type SystemRow<K extends SystemData["kind"]> = StoredRow & {
  readonly type: "system";
  readonly data: Extract<SystemData, { kind: K }>;
};

export function isKind<K extends SystemData["kind"]>(row: StoredRow, kind: K): row is SystemRow<K> {
  return row.type === "system" && row.data.kind === kind;
}

/** The rows of a turn, ascending. A turn's rows all stand behind the `turn-end` of the turn before it. */
export function rowsOfTurn(rows: readonly StoredRow[], turnId: TurnId): readonly StoredRow[] {
  const found: StoredRow[] = [];
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    if (row === undefined) break;
    if (row.turnId === turnId) found.push(row);
    else if (isKind(row, "turn-end")) break;
  }
  return found.reverse();
}

/** Rows with `from` <= seq <= `to`, ascending. Seqs of a log are dense, so none of the others is looked at. */
export function rowsBetween(rows: readonly StoredRow[], from: number, to: number): readonly StoredRow[] {
  const first = rows[0]?.seq ?? 1;
  return rows.slice(Math.max(0, from - first), Math.max(0, to - first + 1));
}

export function voidedSteps(turn: readonly StoredRow[]): ReadonlySet<number> {
  return new Set(turn.flatMap((row) => (isKind(row, "step-void") ? [row.data.step] : [])));
}

export interface StepCall {
  readonly step: number;
  readonly call: ToolCallData;
}

/** Calls of the turn's steps that have no result, in call order. Steps that were voided owe nothing. */
export function unansweredCalls(turn: readonly StoredRow[]): readonly StepCall[] {
  const voided = voidedSteps(turn);
  const answered = new Set(turn.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : [])));
  return turn.flatMap((row) =>
    row.type === "tool_call" && !voided.has(row.step) && !answered.has(row.data.callId)
      ? [{ step: row.step, call: row.data }]
      : [],
  );
}

/** Whether a call of the turn has no result yet. */
export const owesResult = (rows: readonly StoredRow[], turnId: TurnId, callId: string): boolean =>
  unansweredCalls(rowsOfTurn(rows, turnId)).some(({ call }) => call.callId === callId);

export type Question = SystemRow<"permission"> | SystemRow<"ask"> | SystemRow<"limit">;

/** What the turn waits for: the open question of each call that has no result yet, or the one about a limit. */
export function openQuestions(rows: readonly StoredRow[], turnId: TurnId): readonly Question[] {
  const turn = rowsOfTurn(rows, turnId);
  const limit = openLimit(turn);
  const calls = unansweredCalls(turn).flatMap(({ call }) => openQuestion(turn, call.callId) ?? []);
  return limit === undefined ? calls : [...calls, limit];
}

/** The question about a limit that a person has not answered yet. A turn that has ended asks nothing. */
export function openLimit(turn: readonly StoredRow[]): SystemRow<"limit"> | undefined {
  const newest = turn.findLast((row) => isKind(row, "limit") || isKind(row, "turn-end"));
  return newest !== undefined && isKind(newest, "limit") && newest.data.state === "asked" ? newest : undefined;
}

/** Whether the row is a `request` for the turn's next step, and not one that keeps a cache warm or sums the tab up. */
export const isStepRequest = (row: StoredRow): row is SystemRow<"request"> =>
  isKind(row, "request") && (row.data.purpose ?? "step") === "step";

/** Whether the row says that a step finished cleanly. A cut step may be billed too, but it did not finish. */
export const isStepFinish = (row: StoredRow): row is SystemRow<"usage"> =>
  isKind(row, "usage") && (row.data.purpose ?? "step") === "step" && row.data.cut !== true;

/** The question about a call that a person has not answered yet. */
export function openQuestion(
  turn: readonly StoredRow[],
  callId: string,
): SystemRow<"permission"> | SystemRow<"ask"> | undefined {
  const questions = turn.flatMap((row) => (isKind(row, "permission") || isKind(row, "ask") ? [row] : []));
  const answered = new Set(questions.flatMap((row) => (row.data.state === "answered" ? [row.data.askId] : [])));
  return questions.find(
    (row) => row.data.state === "asked" && row.data.callId === callId && !answered.has(row.data.askId),
  );
}
