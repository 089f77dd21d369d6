/**
 * One line that says what a call does or did. Read from the call's arguments and from the result's `details`; whatever is
 * missing or of another type is left out, so that an unknown tool still has an honest line.
 */
import type { JsonObject, LogChunk } from "@varve/protocol";

export type CallState = "writing" | "waiting" | "running" | "done" | "failed";

export interface CallFacts {
  readonly name: string;
  readonly args: JsonObject;
  readonly details: JsonObject;
  readonly state: CallState;
  /** Absolute directory of the tab: paths below it are shown from there. */
  readonly cwd: string;
}

export interface Summary {
  /** "Edited", "Running" ... */
  readonly verb: string;
  /** What it is about, shown in the code face; "" when there is nothing to say. */
  readonly subject: string;
  /** "3 lines", "exit 1" ...; "" when nothing is known. */
  readonly outcome: string;
}

const SUBJECT_CHARS_MAX = 160;

type Verbs = readonly [running: string, done: string];
const VERBS: Readonly<Record<string, Verbs>> = {
  read: ["Reading", "Read"],
  write: ["Writing", "Wrote"],
  edit: ["Editing", "Edited"],
  list: ["Listing", "Listed"],
  grep: ["Searching for", "Searched for"],
  glob: ["Looking for", "Looked for"],
  bash: ["Running", "Ran"],
  fetch: ["Fetching", "Fetched"],
  todo: ["Updating the task list", "Updated the task list"],
  ask: ["Asking you", "Asked you"],
  job: ["Job", "Job"],
};

export function summarise(facts: CallFacts): Summary {
  const verbs = VERBS[facts.name] ?? ["Using", "Used"];
  const verb = facts.state === "done" || facts.state === "failed" ? verbs[1] : verbs[0];
  const subject = clip(oneLine(subjectOf(facts)));
  return { verb, subject, outcome: facts.state === "failed" ? failure(facts) : outcomeOf(facts) };
}

export const plainSummary = (summary: Summary): string =>
  [[summary.verb, summary.subject].filter((part) => part !== "").join(" "), summary.outcome]
    .filter((part) => part !== "")
    .join(": ");

function subjectOf({ name, args, details, cwd }: CallFacts): string {
  const path = text(details, "path") ?? text(args, "path");
  switch (name) {
    case "bash":
      return text(args, "command") ?? "";
    case "grep":
    case "glob":
      return text(args, "pattern") ?? "";
    case "fetch":
      return text(args, "url") ?? "";
    case "ask":
      return text(args, "question") ?? "";
    case "job":
      return [text(args, "action"), text(args, "id")].filter((part) => part !== undefined).join(" ");
    case "todo":
      return "";
    case "list":
      return shortPath(path ?? cwd, cwd);
    case "read":
    case "write":
    case "edit":
      return path === undefined ? "" : shortPath(path, cwd);
    default:
      return path === undefined ? name : `${name} ${shortPath(path, cwd)}`;
  }
}

function outcomeOf({ name, details, state }: CallFacts): string {
  if (state !== "done") return "";
  const made = changeText(details);
  if (made !== "") return made;
  const exit = exitText(details);
  if (exit !== "") return exit;
  const matches = count(details, "matches");
  if (matches !== undefined) return plural(matches, name === "glob" ? "file" : "match", "matches");
  const entries = count(details, "entries") ?? count(details, "count");
  if (entries !== undefined) return plural(entries, "entry", "entries");
  const lines = count(details, "lines");
  if (lines !== undefined) return plural(lines, "line");
  const status = count(details, "status");
  if (status !== undefined) return `status ${status}`;
  return taskText(details) ?? text(details, "summary") ?? "";
}

function failure({ details }: CallFacts): string {
  return exitText(details) || "failed";
}

function exitText(details: JsonObject): string {
  if (details.timedOut === true) return "timed out";
  const signal = text(details, "signal");
  const code = count(details, "exitCode");
  const ms = count(details, "durationMs");
  const took = ms !== undefined && ms >= 1000 ? `, ${durationText(ms)}` : "";
  if (signal !== undefined) return `ended by ${signal}${took}`;
  return code === undefined ? "" : `exit ${code}${took}`;
}

function changeText(details: JsonObject): string {
  const added = count(details, "added");
  const removed = count(details, "removed");
  if (added === undefined && removed === undefined) return "";
  return `+${added ?? 0} −${removed ?? 0}`;
}

function taskText(details: JsonObject): string | undefined {
  const items = details.items;
  if (!Array.isArray(items)) return undefined;
  const done = items.filter((item) => isObject(item) && (item.status === "done" || item.status === "completed"));
  return `${done.length} of ${items.length} done`;
}

export function shortPath(path: string, cwd: string): string {
  const root = cwd.endsWith("/") ? cwd : `${cwd}/`;
  if (path === cwd) return ".";
  return path.startsWith(root) ? path.slice(root.length) : path;
}

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return "under 1 s";
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The state of a call, from what is there of it. A call whose question is open has not started. */
export function callState(parts: {
  readonly result: LogChunk | null;
  readonly asked: boolean;
  readonly turnOpen: boolean;
}): CallState {
  if (parts.result?.type === "tool_result") return parts.result.data.isError ? "failed" : "done";
  if (parts.asked) return "waiting";
  return parts.turnOpen ? "running" : "failed";
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (from: JsonObject, key: string): string | undefined => {
  const value = from[key];
  return typeof value === "string" && value !== "" ? value : undefined;
};
const count = (from: JsonObject, key: string): number | undefined => {
  const value = from[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};
const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
const oneLine = (value: string): string => value.replace(/\s+/g, " ").trim();
const clip = (value: string): string =>
  value.length <= SUBJECT_CHARS_MAX ? value : `${value.slice(0, SUBJECT_CHARS_MAX - 1)}…`;
