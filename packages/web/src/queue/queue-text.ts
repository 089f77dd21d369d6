/** What the card of a waiting message says: when it goes, and what it waits for. */
import type { LogChunk, LongCall, QueuedMessage, TabStatus } from "@varve/protocol";
import { durationText, summarise } from "../tools/summary.ts";
import { visibleText } from "../tools/visible-text.ts";

const SUBJECT_CHARS_MAX = 80;
const QUOTE_CHARS_MAX = 40;

/** When it goes, as far as one can tell. */
export function cardWords(message: Pick<QueuedMessage, "state" | "delivery">, status: TabStatus): string {
  if (message.state === "held") return "held: goes when you send it";
  if (status.state !== "running" && status.state !== "waiting") return "goes next";
  switch (message.delivery) {
    case "queue":
      return "after this turn";
    case "stop":
      return "stops this turn";
    default:
      return status.waits.length > 0 ? "joins when the question is answered" : "joins at the next step";
  }
}

/**
 * Whether what waits goes by itself: while a turn is open, and after one that ended by itself. A stop, an error, a limit or a
 * restart holds it. An end that is not among the rows holds as well: then the person sends.
 */
export function queueGoesOn(status: Pick<TabStatus, "state">, rows: readonly LogChunk[]): boolean {
  if (status.state === "running" || status.state === "waiting") return true;
  const end = rows.findLast((row) => row.type === "system" && row.data.kind === "turn-end");
  return end?.type === "system" && end.data.kind === "turn-end" && end.data.reason === "done";
}

/** The calls that a message waits for: they hold back the end of the step, which is when a steer joins. */
export function waitsFor(message: Pick<QueuedMessage, "state" | "delivery">, status: TabStatus): readonly LongCall[] {
  const joins = message.state === "queued" && message.delivery === "steer" && status.state === "running";
  return joins ? (status.calls ?? []) : [];
}

/** The command of a call, or what it works on, as one line that looks like what it is. */
export function callSubject(call: Pick<LongCall, "callId" | "name">, rows: readonly LogChunk[]): string {
  const row = rows.findLast((one) => one.type === "tool_call" && one.data.callId === call.callId);
  if (row?.type !== "tool_call") return call.name;
  const facts = { name: call.name, args: row.data.arguments, details: {}, state: "running", cwd: "", tookMs: null };
  const { subject } = summarise({ ...facts, state: "running" });
  const shown = visibleText(subject === "" ? call.name : subject);
  return shown.length <= SUBJECT_CHARS_MAX ? shown : `${shown.slice(0, SUBJECT_CHARS_MAX - 1)}…`;
}

export const runningFor = (call: Pick<LongCall, "since">, now: number): string =>
  `running for ${durationText(Math.max(1000, now - call.since))}`;

/** The two ways on. `move` is null when none of the calls can go on in the background. */
export function waysOn(calls: readonly LongCall[]): { readonly move: string | null; readonly stop: string } {
  const movable = calls.filter((call) => call.movable).length;
  const stop = calls.length === 1 ? "Stop it and deliver" : "Stop them and deliver";
  if (movable === 0) return { move: null, stop };
  if (movable < calls.length) return { move: `Move ${movable} of ${calls.length} to background`, stop };
  return { move: "Move to background and deliver", stop };
}

/** The job that a call became; null when its result is not there, or is an ordinary one. */
export function jobOf(callId: string, rows: readonly LogChunk[]): string | null {
  const row = resultRow(callId, rows);
  const job = row?.type === "tool_result" ? row.data.details?.job : undefined;
  return typeof job === "string" ? job : null;
}
export const resultRow = (callId: string, rows: readonly LogChunk[]): LogChunk | undefined =>
  rows.findLast((one) => one.type === "tool_result" && one.data.callId === callId);

/** The beginning of a message, in quotes, to name it by. */
export function quoted(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return `“${line.length <= QUOTE_CHARS_MAX ? line : `${line.slice(0, QUOTE_CHARS_MAX - 1)}…`}”`;
}
