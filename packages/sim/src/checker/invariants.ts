/** What must hold in every state, after every step, and at rest. Each answer names the invariant that is broken. */

import { type TabView, windowHi, windowLo } from "@varve/client/view";
import { cellOf, type LogChunk } from "@varve/protocol";
import type { Told } from "./driver.ts";
import { alphabet, type Owner, tailOf } from "./owner.ts";
import { type Act, isAtRest, type Line, type World } from "./world.ts";

export const invariants = {
  "shown-once": "each id is shown in one place",
  "said-once": "nothing is shown twice under two ids",
  dense: "the window is a dense run of the log, within its limits",
  "no-phantom": "a client that follows the current log and term shows only rows that the owner has",
  prefix: "the text of an open block is a beginning of what was said",
  "own-message": "each message that this client sent is shown or has ended",
  "as-told": "at the stamp of a frame a client shows what the owner held then",
  stays: "no row leaves a window that has room",
  answered: "a subscription that was asked for is answered",
  "at-rest": "when nothing is under way, a client shows what the owner holds",
} as const;
export type InvariantName = keyof typeof invariants;

const broken = (name: InvariantName, what: string): string => `${name}: ${what}`;

// --- every state ---------------------------------------------------------------------------------------------------

export function stateProblem(world: World): string | null {
  for (const line of world.lines) {
    const problem = lineProblem(line, world);
    if (problem !== null) return `${line.client.name}: ${problem}`;
  }
  if (!isAtRest(world)) return null;
  for (const line of world.lines) {
    const problem = restProblem(line, world);
    if (problem !== null) return `${line.client.name}: ${broken("at-rest", problem)}`;
  }
  return null;
}

const lineProblem = (line: Line, world: World): string | null =>
  shownProblem(line.client.view) ??
  windowProblem(line.client.view) ??
  phantomProblem(line, world.owner) ??
  ownProblem(line, world) ??
  waitProblem(line);

const pendingShown = (view: TabView) =>
  view.outbox.pending.filter((entry) => cellOf(view.state, entry.id) === undefined);

function shownProblem(view: TabView): string | null {
  const pending = pendingShown(view);
  const ids = new Set<string>();
  for (const { id } of [...view.rows, ...view.state.open.values(), ...view.state.queue.values(), ...pending]) {
    if (ids.has(id)) return broken("shown-once", `${id} twice`);
    ids.add(id);
  }
  const messages = [
    ...view.rows.map(messageOf),
    ...[...view.state.queue.values()].map((cell) => nameOf(cell.message.data.text)),
    ...pending.map((entry) => nameOf(entry.text)),
  ];
  const said = new Set<string>();
  for (const name of messages) {
    if (name === null) continue;
    if (said.has(name)) return broken("said-once", `${name} twice`);
    said.add(name);
  }
  for (const { id, text } of view.state.open.values()) {
    if (!alphabet.startsWith(text)) return broken("prefix", `${id} says "${text}"`);
  }
  return null;
}

/** A message's text begins with its name; a change of it adds to that. */
const nameOf = (text: string): string => text.split(".")[0] ?? text;
const messageOf = (row: LogChunk): string | null =>
  row.role === "user" && row.type === "text" ? nameOf(row.data.text) : null;

function windowProblem(view: TabView): string | null {
  const { rows } = view;
  if (rows.length !== view.state.sealed.size) return broken("dense", "rows are held that are not shown");
  const hole = rows.find((row, i) => i > 0 && row.seq !== (rows[i - 1]?.seq ?? 0) + 1);
  if (hole !== undefined) return broken("dense", `no row before ${hole.seq}`);
  if (windowHi(view) > view.state.tail) return broken("dense", "rows above the tail");
  const pinned = view.outbox.pending.length;
  return rows.length > view.most.rows + pinned ? broken("dense", `${rows.length} rows`) : null;
}

/** Only what the owner's own head can still correct may be wrong: that of a client to which a head is on its way. */
function phantomProblem({ client, attached, down }: Line, owner: Owner): string | null {
  const { view } = client;
  if (!attached || view.state.logId !== owner.log || view.state.version[0] !== owner.term) return null;
  if (down.some((told) => told.frame.type === "head")) return null;
  const phantom = rowThatIsNot(view.rows, owner);
  return phantom === undefined ? null : broken("no-phantom", `${phantom.id} at ${phantom.seq}`);
}
const rowThatIsNot = (rows: readonly LogChunk[], owner: Owner): LogChunk | undefined =>
  rows.find((row) => !owner.rows.includes(row));

function ownProblem({ client }: Line, world: World): string | null {
  const { view, sent, unsure } = client;
  if (sent.length === 0) return null;
  const { pending, lost, kept } = view.outbox;
  const shown = new Set<string>([...pending, ...lost].map((entry) => entry.id));
  // A page that was just loaded shows what was accepted with its first head; after a restore it is looked up, or offered again.
  const isAhead = world.isRestored || !view.ready;
  const remembered = new Set<string>(isAhead ? [...kept, ...unsure].map((entry) => entry.id) : []);
  for (const id of sent) {
    if (shown.has(id) || cellOf(view.state, id) !== undefined) continue;
    const fate = world.owner.inbox.get(id);
    if (fate === "sealed" || fate === "dropped" || world.cancelled.includes(id) || remembered.has(id)) continue;
    return broken("own-message", `${id} is nowhere`);
  }
  return null;
}

function waitProblem(line: Line): string | null {
  const isQuiet = line.up && line.served && line.down.length === 0 && line.said.length === 0;
  return isQuiet && line.client.sub.kind === "pending" ? broken("answered", "nothing comes") : null;
}

// --- at rest -------------------------------------------------------------------------------------------------------

function restProblem({ client }: Line, world: World): string | null {
  const { owner } = world;
  const { view } = client;
  const { state } = view;
  if (state.logId !== owner.log) return "another log";
  if (state.version[0] !== owner.term || state.version[1] !== owner.n) return "another version";
  const differs = liveProblem(view, owner);
  if (differs !== null) return differs;
  const text = owner.open.find(({ block, text }) => state.open.get(block.id)?.text !== text);
  if (text !== undefined) return `other text in ${text.block.id}`;
  if (view.attached && windowHi(view) !== tailOf(owner)) return "rows are missing at the end";
  if (view.outbox.pending.length > 0) return "the outbox is not empty";
  const offered = view.outbox.lost.find(({ id }) => ["queued", "sealed"].includes(owner.inbox.get(id) ?? ""));
  if (offered !== undefined) return `${offered.id} is offered again, though the owner has it`;
  for (const id of client.sent) {
    const known = owner.inbox.has(id) || world.cancelled.includes(id);
    if (!known && !view.outbox.lost.some((entry) => entry.id === id)) return `the owner never heard of ${id}`;
  }
  return null;
}

/** Everything but the text of open blocks, against the owner at the same stamp. */
function liveProblem(view: TabView, owner: Owner): string | null {
  const { state } = view;
  const queue = [...state.queue.values()].map((cell) => cell.message).sort((a, b) => a.position - b.position);
  const isSameQueue =
    queue.length === owner.queue.length && queue.every((message, i) => isSameMessage(message, owner.queue[i]));
  if (!isSameQueue) return "another queue";
  const open = [...state.open.keys()];
  if (open.length !== owner.open.length || owner.open.some(({ block }) => !state.open.has(block.id)))
    return "other open blocks";
  if (state.status.state !== owner.status.state || state.status.lastSealed !== owner.status.lastSealed)
    return "another status";
  if (state.tail !== tailOf(owner)) return "another tail";
  const phantom = rowThatIsNot(view.rows, owner);
  return phantom === undefined ? null : `${phantom.id} is no row of the log`;
}

type Message = Owner["queue"][number];
const isSameMessage = (a: Message, b: Message | undefined): boolean =>
  b !== undefined && a.id === b.id && a.version === b.version && a.data.text === b.data.text && a.state === b.state;

// --- steps ---------------------------------------------------------------------------------------------------------

/** What a step must not do, seen from both of its ends. `told`: the frame that was taken in it. */
export function stepProblem(
  before: Line,
  after: Line,
  step: { readonly act: Act; readonly told: Told | undefined },
): string | null {
  const name = after.client.name;
  const stays = staysProblem(before.client.view, after.client.view, step);
  if (stays !== null) return `${name}: ${broken("stays", stays)}`;
  if (step.told === undefined) return null;
  const problem = toldProblem(after.client.view, step.told);
  return problem === null ? null : `${name}: ${broken("as-told", problem)}`;
}

function toldProblem(view: TabView, { frame, truth }: Told): string | null {
  const { logId, version } = view.state;
  if (frame.type === "ack" || logId !== truth.log || version[0] !== truth.term || version[1] !== truth.n) return null;
  // A page may have brought rows that are newer than this stamp: then it is compared at a later one.
  return view.state.tail > tailOf(truth) ? null : liveProblem(view, truth);
}

/**
 * Jumps to the end, and heads that leave out rows of the log, may leave rows behind; anything else only when the window is
 * full. Rows above those that a head vouches for go until they are told again: a page may have brought them before it.
 */
function staysProblem(
  before: TabView,
  after: TabView,
  { act, told }: { readonly act: Act; readonly told: Told | undefined },
): string | null {
  if (before.rows === after.rows || isJump(told) || act.do === "take-page" || act.do === "reload") return null;
  if (
    before.state.logId !== after.state.logId ||
    before.state.version[0] !== after.state.version[0] ||
    after.rows.length >= after.most.rows
  )
    return null;
  const [lo, hi] = [windowLo(after), windowHi(after)];
  const vouched = told?.frame.type === "head" ? told.frame.from : Number.POSITIVE_INFINITY;
  const left = before.rows.find((row) => row.seq < lo || (row.seq > hi && row.seq <= vouched));
  return left === undefined ? null : `row ${left.seq} has left`;
}

/** A head says which rows it vouches for, and may leave out rows of the log: then the window is elsewhere. */
function isJump(told: Told | undefined): boolean {
  if (told?.frame.type !== "head") return false;
  const { mode, from, rows } = told.frame;
  const first = rows[0]?.seq ?? from + 1;
  return mode === "reset" || told.truth.rows.some((row) => row.seq > from && row.seq < first);
}
