/** What must hold of every tab's rows, whatever happened to the server. */
import type { ChunkId, LogChunk } from "@varve/protocol";
import type { FakeProvider } from "../provider/fake-provider.ts";

/** Empty when all holds; else one line for each thing that does not. */
export function logProblems(rows: readonly LogChunk[], acknowledged: readonly ChunkId[]): readonly string[] {
  const problems: string[] = [];
  rows.forEach(({ seq }, index) => {
    if (seq !== index + 1) problems.push(`row ${index + 1} has seq ${seq}`);
  });
  const ids = rows.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) problems.push("an id has two rows");
  for (const id of acknowledged) {
    const copies = rows.filter((row) => row.id === id && row.role === "user").length;
    if (copies !== 1) problems.push(`the acknowledged message ${id} is there ${copies} times`);
  }
  return [...problems, ...callProblems(rows), ...turnProblems(rows)];
}

/** One result for each call, and none for a call of a step that was voided: its stream broke before it could run. */
function callProblems(rows: readonly LogChunk[]): readonly string[] {
  const problems: string[] = [];
  const voided = new Set(
    rows.flatMap((row) =>
      row.type === "system" && row.data.kind === "step-void" ? [`${row.data.turnId} ${row.data.step}`] : [],
    ),
  );
  for (const row of rows) {
    if (row.type !== "tool_call") continue;
    const { callId } = row.data;
    const due = voided.has(`${row.turnId} ${row.step}`) ? 0 : 1;
    const results = rows.filter((other) => other.type === "tool_result" && other.data.callId === callId);
    if (results.length !== due) problems.push(`the call ${callId} has ${results.length} results`);
  }
  return problems;
}

/** Turns come one after the other, and each ends once, with its last row. */
function turnProblems(rows: readonly LogChunk[]): readonly string[] {
  const problems: string[] = [];
  const turns: LogChunk["turnId"][] = [];
  for (const { turnId } of rows) {
    if (turnId === "" || turnId === turns.at(-1)) continue;
    if (turns.includes(turnId)) problems.push(`turn ${turnId} goes on after another began`);
    turns.push(turnId);
  }
  for (const turn of turns) {
    const own = rows.filter(({ turnId }) => turnId === turn);
    const ends = own.filter((row) => row.type === "system" && row.data.kind === "turn-end");
    if (ends.length !== 1 || own.at(-1) !== ends[0])
      problems.push(`turn ${turn} ended ${ends.length} times, or is not over with that`);
  }
  return problems;
}

/** Requests that the vendor's rules refused. A fold that is right never makes one. */
export const refusals = ({ calls }: FakeProvider): readonly (string | null)[] =>
  calls.map(({ refusal }) => refusal).filter((refusal) => refusal !== null);
