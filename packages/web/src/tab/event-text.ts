/** What the quiet lines between messages say. */
import type { ErrorData, LogChunk, TurnEndReason } from "@varve/protocol";
import { limitAnswerText } from "../ledger/limit-text.ts";
import { countText } from "./usage.ts";

export type EventLevel = "info" | "warning" | "error";
export interface EventText {
  readonly level: EventLevel;
  readonly text: string;
  readonly detail?: string;
  /** A long text behind a click. */
  readonly folded?: { readonly label: string; readonly text: string };
  /** Parts what is above from what is below it. */
  readonly divides?: boolean;
}

/** An error and a restart have rows of their own before the end, which say all. */
const TURN_ENDS: Readonly<Record<TurnEndReason, EventText | null>> = {
  done: null,
  stopped: { level: "info", text: "Stopped. What was written up to here is kept." },
  deadline: { level: "warning", text: "The time for this turn ran out. What was written up to here is kept." },
  error: null,
  restart: null,
};

/** Null for rows that have no line of their own. */
export function eventText(row: LogChunk): EventText | null {
  if (row.type === "error") return { level: "error", text: row.data.message, ...detail(row.data.hint) };
  if (row.type !== "system") return null;
  const { data } = row;
  switch (data.kind) {
    case "notice":
      return { level: data.level, text: data.text };
    case "turn-end":
      return TURN_ENDS[data.reason];
    case "step-void":
      return {
        level: "info",
        text: "The attempt above was broken off and is not part of the log that the model sees.",
        detail: data.reason,
      };
    case "compaction":
      return {
        level: "info",
        divides: true,
        text: `Earlier turns are summed up for the model${sizes(data.tokensBefore, data.tokensAfter)}. All rows are still here.`,
        folded: { label: "The summary", text: data.summary },
      };
    case "compaction-undo":
      return { level: "info", divides: true, text: "The summary was undone: the model has the earlier turns again." };
    case "prefix":
      return {
        level: "info",
        divides: true,
        text: "The cache restarts here: the tab was rebuilt with the newest instructions and tools.",
      };
    case "note":
      return {
        level: "info",
        text: "The agent was told that its instructions changed.",
        folded: { label: "What it was told", text: data.text },
      };
    case "limit":
      return data.state === "asked"
        ? null
        : { level: "info", text: limitAnswerText(data.limit, data.choice, data.raiseTo) };
    case "config-reload":
    case "snapshot":
    case "context-changed":
      return { level: "info", text: data.text };
    case "model-changed":
      return { level: "info", text: `From here on: ${modelText(data)}.` };
    default:
      return null;
  }
}

const sizes = (before: number | undefined, after: number | undefined): string =>
  before === undefined || after === undefined ? "" : `, ${countText(before)} to about ${countText(after)} tokens`;

function modelText(data: { readonly model: string; readonly effort: string; readonly cacheTtl?: string | undefined }) {
  const effort = data.effort === "default" ? "" : `, ${data.effort} effort`;
  return `${data.model}${effort}${data.cacheTtl === "1h" ? ", cached for an hour" : ""}`;
}

export type WayOn = "settings" | "retry";

const KEY_CODES: ReadonlySet<string> = new Set([
  "unauthorized",
  "credential-refused",
  "unknown-credential",
  "model-unavailable",
  "unknown-model",
]);

/** What to offer under an error: a key or model that does not work is a matter for the settings. */
export function wayOn(error: ErrorData): WayOn {
  const refusedKey = error.statusCode === 401 || error.statusCode === 403;
  return refusedKey || (error.code !== undefined && KEY_CODES.has(error.code)) ? "settings" : "retry";
}

const detail = (text: string | undefined): { detail: string } | Record<string, never> =>
  text === undefined ? {} : { detail: text };
