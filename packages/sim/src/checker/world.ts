/**
 * One owner, its clients, and everything that is under way between them. Every act that is possible in a state can be done
 * in it; acts that would never end are given as a budget. Immutable.
 */
import type { Command, SubCommand } from "@varve/protocol";
import { type Client, newClient, type ToClient, type Told } from "./driver.ts";
import { type Durable, frameOf, headOf, newOwner, type Owner, type Act as OwnerAct } from "./owner.ts";
import type { Off } from "./rules.ts";

/** What may happen. Those of the second list happen by themselves, as often as they can. */
export const budgeted = [
  "send",
  "cancel",
  "edit",
  "reload",
  "page",
  "evict",
  "cut",
  "again",
  "swap",
  "merge",
  "remote-send",
  "remote-cancel",
  "remote-edit",
  "end",
  "open",
  "grow",
  "drop",
  "crash",
  "retake",
  "clear",
  "back",
  "backup",
  "restore",
  "set-back",
] as const;
export type Budgeted = (typeof budgeted)[number];
export type Verb =
  | Budgeted
  | "older"
  | "newer"
  | "to-end"
  | "connect"
  | "closed"
  | "command"
  | "frame"
  | "attach"
  | "serve-page"
  | "take-page"
  | "verify"
  | "bottom"
  | "late-frame"
  | "late-command"
  | "copy"
  | "consume"
  | "seal";

export interface Act {
  readonly do: Verb;
  /** Whose: the index of a client. */
  readonly client?: number;
  /** On which of several. */
  readonly on?: number;
}
export const sameAct = (a: Act, b: Act): boolean => a.do === b.do && a.client === b.client && a.on === b.on;

export interface Scope {
  readonly name: string;
  readonly clients: 1 | 2;
  /** Rows in the log at the start. */
  readonly rows: number;
  /** Rows of a page, and of a window. */
  readonly page: number;
  readonly window: number;
  /** A turn runs at the start: messages are queued. */
  readonly isRunning: boolean;
  readonly budget: Readonly<Partial<Record<Budgeted, number>>>;
  /** Frames of a connection that ended may still arrive. */
  readonly lateFrames?: boolean;
  /** Commands of a connection that ended may still arrive at the server. */
  readonly lateCommands?: boolean;
  /** Another log is pointed to without a new term, told by a `log` op. */
  readonly termStays?: boolean;
  /** The window of the first client does not reach the end of the log. */
  readonly isDetached?: boolean;
  /** A backup was made when the log had so many rows. */
  readonly backupAt?: number;
}

/** A client and its connection, from both ends. */
export interface Line {
  readonly client: Client;
  readonly up: boolean;
  /** The server's end is alive. */
  readonly served: boolean;
  readonly attached: boolean;
  /** The subscription as the server knows it: the newest row that it was sent, and how many it wants. */
  readonly have: SubCommand["have"];
  readonly want: number | undefined;
  readonly down: readonly Told[];
  readonly said: readonly Command[];
  readonly lateDown: readonly Told[];
  readonly lateSaid: readonly Command[];
  readonly copies: readonly Told[];
}

export interface World {
  readonly owner: Owner;
  readonly lines: readonly Line[];
  readonly budget: Readonly<Partial<Record<Budgeted, number>>>;
  readonly backup: Durable | null;
  /** What no restore takes back: names that were given, and the highest term. */
  readonly made: { readonly blocks: number; readonly logs: number; readonly term: number; readonly remote: number };
  readonly isRestored: boolean;
  /** Messages that somebody cancelled, whatever a restored database says. */
  readonly cancelled: readonly string[];
}

export interface Setting {
  readonly scope: Scope;
  readonly off: Off;
}

const newLine = (name: string, scope: Scope): Line => ({
  client: newClient(name, { rows: scope.window, bytes: Number.MAX_SAFE_INTEGER }),
  up: false,
  served: false,
  attached: false,
  have: null,
  want: undefined,
  down: [],
  said: [],
  lateDown: [],
  lateSaid: [],
  copies: [],
});

export const names = ["a", "b"] as const;

export const emptyWorld = (scope: Scope): World => ({
  owner: newOwner(scope.rows),
  lines: names.slice(0, scope.clients).map((name) => newLine(name, scope)),
  budget: scope.budget,
  backup: null,
  made: { blocks: 0, logs: 1, term: 1, remote: 0 },
  isRestored: false,
  cancelled: [],
});

export function changeLine(world: World, at: number, change: (line: Line) => Line): World {
  return { ...world, lines: world.lines.map((line, i) => (i === at ? change(line) : line)) };
}

/** The client has changed; what it said goes on its way. */
export function withClient(line: Line, client: Client): Line {
  if (client.says.length === 0) return { ...line, client };
  return { ...line, client: { ...client, says: [] }, said: [...line.said, ...client.says] };
}

// --- what the owner tells ------------------------------------------------------------------------------------------

export const tell = (line: Line, frame: ToClient, truth: Owner): Line => ({
  ...line,
  have: haveAfter(frame, line.have),
  down: [...line.down, { frame, truth }],
});

/** The owner has acted: whoever is attached is told. */
export function acted(world: World, act: OwnerAct): World {
  if (act.ops.length === 0) return act.owner === world.owner ? world : { ...world, owner: act.owner };
  const { owner, frame } = frameOf(world.owner, act);
  const lines = world.lines.map((line) => (line.attached ? tell(line, frame, owner) : line));
  return { ...world, owner, lines };
}

/** The owner stands elsewhere: another term or log. Whoever is attached gets a head. */
export function headToAll(world: World, setting: Setting): World {
  const { owner } = world;
  const lines = world.lines.map((line) => {
    if (!line.attached) return line;
    const asked = { have: line.have, want: line.want };
    return tell(line, headOf(owner, asked, { page: setting.scope.page, off: setting.off }), owner);
  });
  return { ...world, lines };
}

/** The server's process ends: what it was told and had not taken is lost, what it said may still arrive. */
export const serverGone = (world: World): World => ({
  ...world,
  lines: world.lines.map((line) => ({ ...line, served: false, attached: false, said: [] })),
});

/** The newest row that a client holds once it has taken the frame. */
function haveAfter(frame: ToClient, have: SubCommand["have"]): SubCommand["have"] {
  if (frame.type === "ack") return have;
  const isWiped = have === null || have.log !== frame.log || (frame.type === "head" && frame.mode === "reset");
  const rows = frame.type === "head" ? frame.rows : frame.ops.flatMap((op) => (op.op === "chunk-seal" ? [op.row] : []));
  const last = rows.at(-1);
  if (last !== undefined) return { log: frame.log, term: last.term, seq: last.seq };
  return isWiped ? { log: frame.log, term: 0, seq: 0 } : have;
}

/** Nothing is under way, and nobody waits for anything. */
export const isAtRest = (world: World): boolean =>
  world.lines.every(
    (line) =>
      line.up &&
      line.served &&
      line.attached &&
      line.down.length === 0 &&
      line.said.length === 0 &&
      line.client.sub.kind === "live" &&
      line.client.page === null &&
      line.client.unsure.length === 0,
  );
