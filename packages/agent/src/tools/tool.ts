/**
 * CONTRACT. A tool: schema beside code, effects injected. One file a tool, made by a factory over `ToolOperations`.
 *
 * The loop may rely on: `prepare` changes nothing and decides nothing; `run` never throws and never hangs after `signal`
 * aborts (it ends within 3 s, its processes gone); `text` is non-empty, bounded, well-formed and final.
 * A tool must never: read a setting that is not in its `ToolPlace`, show output that it did not bound, or touch a path that
 * `prepare` did not name.
 */
import type { JsonObject, PermissionSubject, StoredRow, TabId, ToolDefinition } from "@varve/protocol";
import type { Secrets } from "../secrets/known-secrets.ts";

/** How a tab's commands run. */
export interface SandboxWish {
  /** `on`: in a sandbox where there is one; `required`: only in one. */
  readonly mode: "off" | "on" | "required";
  /** Hosts that they may reach from there, as `name`, `*.name` or with `:port`; `*` alone: all. */
  readonly network: readonly string[];
}

/** Where a tab's tools work. One per tab, living as long as the server does. */
export interface ToolPlace {
  readonly tabId: TabId;
  /** Absolute; may have vanished since. */
  readonly cwd: string;
  /** `VARVE_HOME`: denied to every tool in every mode. */
  readonly home: string;
  /** Real paths of directories that the person added: they count as inside for as long as they are no link. */
  readonly directories?: readonly string[];
  /** Absent: commands run without a sandbox. */
  readonly sandbox?: SandboxWish;
  /**
   * Names of environment variables that no child may see, some with a `*` in front or behind for any beginning or end
   * (VARVE_* is always among them).
   */
  readonly hiddenEnv: readonly string[];
  /** Taken out of all output before it is cut, kept or shown. Absent: none are known. */
  readonly secrets?: Secrets;
}

export type ToolEffect =
  /** Reads inside the workspace, or keeps a list: allowed by default. */
  | "read"
  /** Writes a file inside the workspace: allowed in mode `edits`. */
  | "write"
  /** Runs a command, fetches from the network, or reaches outside the workspace. */
  | "run"
  /** Asks the person: needs no permission. */
  | "ask";

export interface ToolImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly ToolImage[];
  /** The whole output when `text` is a part of it; kept as a blob that the agent can read again by path. */
  readonly spill?: { readonly bytes: Uint8Array; readonly mediaType: string };
  /** For the page: `{summary, ...}` by tool; e.g. `diff` (unified), `exitCode`, `matches`, `path`, `items`. */
  readonly details?: JsonObject;
}

export interface ToolRun {
  readonly callId: string;
  /** Aborts when the turn or this call is stopped; `signal.reason` is "stopped" or "deadline". */
  readonly signal: AbortSignal;
  /** Live output, shown while the tool runs. May be called any number of times with any split. */
  readonly output: (text: string) => void;
  /**
   * For a tool whose work can outlive its call: hands in the way to let it go on as a background job. `move` answers at once,
   * true when the call is about to end with a result that names the job, false when it cannot be moved (any more).
   */
  readonly canMove?: (move: () => boolean) => void;
  /** Asks the person and waits; null when the turn was stopped before an answer. Only the `ask` tool uses it. */
  readonly ask: (question: string, options: readonly string[]) => Promise<string | null>;
  /** Sealed rows of the tab's log with `from` <= seq <= `to`, ascending. Only the `recall` tool uses it. */
  readonly rows: (from: number, to: number) => readonly StoredRow[];
}

export interface PreparedCall {
  readonly effect: ToolEffect;
  /** Shown in a prompt, exactly as it will be used. `key` is what "for this tab" would allow from then on. */
  readonly subject: PermissionSubject;
  /** Calls of one step that share a lock run one after another in call order (the real paths of the files written). */
  readonly lock: string | readonly string[] | null;
  /** The command names `VARVE_HOME`: a person is asked each time, in every mode and whatever was allowed before. */
  readonly namesHome?: boolean;
  readonly run: (run: ToolRun) => Promise<ToolOutcome>;
}

export interface Tool {
  readonly definition: ToolDefinition;
  /** Arguments valid or not: a bad one gets an error text for the model that names what is wrong. */
  prepare(args: JsonObject, place: ToolPlace): Promise<PreparedCall | { readonly error: string }>;
}

/** The tools by name. `definitions` ascend by name: they are sealed into the prefix of each new log. */
export interface ToolBox {
  readonly definitions: readonly ToolDefinition[];
  get(name: string): Tool | undefined;
  /** Ends the tab's background jobs and forgets what it has read; its long outputs stay when they are to be kept. */
  closePlace(tabId: TabId, outputs?: "keep" | "drop"): Promise<void>;
  close(): Promise<void>;
}
