/**
 * One line that says what a call does or did. Read from the call's arguments and from the result's `details`; whatever is
 * missing or of another type is left out, so that an unknown tool still has an honest line.
 */
import type { JsonObject, LogChunk } from "@varve/protocol";

export type CallState = "waiting" | "running" | "done" | "failed" | "denied";

export interface CallFacts {
  readonly name: string;
  readonly args: JsonObject;
  readonly details: JsonObject;
  readonly state: CallState;
  /** Absolute directory of the tab: paths below it are shown from there. */
  readonly cwd: string;
  /** From the moment it could start to its result; null when not known. */
  readonly tookMs: number | null;
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
/** A command that took less than this needs no word about it. */
const SHOWN_FROM_MS = 1000;

type Verbs = readonly [running: string, done: string, wish: string];
const VERBS: Readonly<Record<string, Verbs>> = {
  read: ["Reading", "Read", "read"],
  write: ["Writing", "Wrote", "write"],
  edit: ["Editing", "Edited", "edit"],
  patch: ["Patching", "Patched", "patch"],
  list: ["Listing", "Listed", "list"],
  grep: ["Searching for", "Searched for", "search for"],
  glob: ["Looking for", "Looked for", "look for"],
  bash: ["Running", "Ran", "run"],
  fetch: ["Fetching", "Fetched", "fetch"],
  todo: ["Updating the task list", "Updated the task list", "update the task list"],
  ask: ["Asking you", "Asked you", "ask you"],
  job: ["Job", "Job", "use the job"],
};

export function summarise(facts: CallFacts): Summary {
  const verbs = VERBS[facts.name] ?? ["Using", "Used", "use"];
  const verb = verbOf(facts, verbs);
  const subject = clip(oneLine(subjectOf(facts)));
  return { verb, subject, outcome: outcomeOf(facts) };
}

function verbOf({ name, state }: CallFacts, [running, done, wish]: Verbs): string {
  switch (state) {
    case "done":
    case "failed":
      return done;
    case "waiting":
      return name === "ask" ? running : `Wants to ${wish}`;
    case "denied":
      return `Wanted to ${wish}`;
    default:
      return running;
  }
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
    case "patch":
      return path === undefined ? filesOf(details) : shortPath(path, cwd);
    default:
      return path === undefined ? name : `${name} ${shortPath(path, cwd)}`;
  }
}

/** A patch of several files names how many; while it runs only the patch itself is known. */
const filesOf = ({ files }: JsonObject): string =>
  Array.isArray(files) ? plural(files.length, "file", "files") : "files";

/** Tools say their outcome in `details.summary`; numbers serve where one does not. */
function outcomeOf({ name, args, details, state, tookMs }: CallFacts): string {
  if (state === "denied") return "denied";
  if (state === "waiting" || state === "running") return "";
  const job = text(details, "job");
  // It ran in the foreground and was moved: its command goes on elsewhere, and is not over.
  if (name === "bash" && job !== undefined && args.background !== true) return `continues as job ${job}`;
  const said = text(details, "summary") ?? fromNumbers(details) ?? (state === "failed" ? "failed" : "");
  const slow = name === "bash" && args.background !== true && tookMs !== null && tookMs >= SHOWN_FROM_MS;
  return slow ? [said, durationText(tookMs)].filter((part) => part !== "").join(", ") : said;
}

function fromNumbers(details: JsonObject): string | undefined {
  const [added, removed] = [count(details, "added"), count(details, "removed")];
  if (added !== undefined || removed !== undefined) return `+${added ?? 0} −${removed ?? 0}`;
  const code = count(details, "exitCode");
  if (code !== undefined) return `exit ${code}`;
  const matches = count(details, "matches");
  return matches === undefined ? undefined : plural(matches, "match", "matches");
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
  readonly denied: boolean;
  readonly turnOpen: boolean;
}): CallState {
  if (parts.denied) return "denied";
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
