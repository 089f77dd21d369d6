import type { StoredRow } from "@varve/protocol";
import { type CallPlace, closesCall } from "./result-rule.ts";

export interface RowProblem {
  readonly seq: number;
  /** One sentence. */
  readonly problem: string;
}

/** Problems reported at most; a log that is worse is bad enough. */
export const problemsMax = 100;

/**
 * What must hold for the rows of one log, from its first row on: seqs are dense from 1, terms never go back, an id and a
 * call's result stand once, and a result stands before the log goes on. Pure; an empty answer means sound.
 */
export function verifyRows(rows: Iterable<StoredRow>): readonly RowProblem[] {
  const problems: RowProblem[] = [];
  const state: Walk = { seq: 0, term: 0, ids: new Set(), open: new Map(), answered: new Set() };
  for (const row of rows) {
    for (const problem of [...orderProblems(row, state), ...callProblems(row, state)]) {
      problems.push({ seq: row.seq, problem });
      if (problems.length === problemsMax) return problems;
    }
    state.seq = row.seq;
    state.term = Math.max(state.term, row.term);
  }
  return problems;
}

interface Walk {
  seq: number;
  term: number;
  readonly ids: Set<string>;
  readonly open: Map<string, CallPlace>;
  readonly answered: Set<string>;
}

function orderProblems(row: StoredRow, state: Walk): readonly string[] {
  const problems: string[] = [];
  if (row.seq !== state.seq + 1) problems.push(`Row ${row.seq} follows row ${state.seq}.`);
  if (row.term < state.term) problems.push(`Its term ${row.term} is behind ${state.term}.`);
  if (state.ids.has(row.id)) problems.push(`The id ${row.id} stands twice.`);
  state.ids.add(row.id);
  return problems;
}

function callProblems(row: StoredRow, state: Walk): readonly string[] {
  if (row.type === "tool_result") return resultProblems(row, row.data.callId, state);
  for (const [callId, call] of state.open) if (closesCall(row, call)) state.open.delete(callId);
  if (row.type === "tool_call") {
    state.open.set(row.data.callId, { seq: row.seq, turnId: row.turnId, step: row.step });
    state.answered.delete(row.data.callId);
  }
  return [];
}

function resultProblems(row: StoredRow, callId: string, state: Walk): readonly string[] {
  const second = state.answered.has(callId);
  const open = state.open.has(callId);
  state.answered.add(callId);
  state.open.delete(callId);
  for (const [other, call] of state.open) if (closesCall(row, call)) state.open.delete(other);
  if (second) return [`The tool call ${callId} has a second result.`];
  return open ? [] : [`The result of the tool call ${callId} stands without an open call.`];
}
