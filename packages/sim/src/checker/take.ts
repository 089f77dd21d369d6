/** What an act does. */

import { readAtEnd } from "@varve/client/view";
import { assert, type Command, type OpsFrame } from "@varve/protocol";
import {
  askPage,
  type PageSide,
  reload,
  say,
  sendMessage,
  type Told,
  takeAnswer,
  takeFrame,
  takeLateAck,
  verify,
  wentDown,
  wentLive,
} from "./driver.ts";
import {
  cancel,
  chunkId,
  consume,
  dropBlock,
  durableOf,
  edit,
  endTurn,
  grow,
  headOf,
  holdAll,
  isStamped,
  logId,
  type Owner,
  openBlock,
  pageOf,
  pointTo,
  seal,
  send,
  takeOver,
  theTab,
} from "./owner.ts";
import { evictLive } from "./seams.ts";
import {
  type Act,
  acted,
  type Budgeted,
  budgeted,
  changeLine,
  headToAll,
  type Line,
  type Setting,
  serverGone,
  tell,
  type Verb,
  type World,
  withClient,
} from "./world.ts";

const isBudgeted = (verb: Verb): verb is Budgeted => (budgeted as readonly string[]).includes(verb); // Widening for the look-up.
const costOf = (verb: Verb): Budgeted | null => {
  if (verb === "older" || verb === "newer" || verb === "to-end") return "page";
  return isBudgeted(verb) ? verb : null;
};

export function take(world: World, act: Act, setting: Setting): World {
  const cost = costOf(act.do);
  const paid = cost === null ? world : { ...world, budget: { ...world.budget, [cost]: (world.budget[cost] ?? 0) - 1 } };
  if (act.client === undefined) return ownerTakes(paid, act, setting);
  return lineTakes(paid, { ...act, client: act.client }, setting);
}

// --- a client and its connection -----------------------------------------------------------------------------------

type OfClient = Act & { readonly client: number };

function lineTakes(world: World, act: OfClient, setting: Setting): World {
  const { off } = setting;
  const onLine = (change: (line: Line) => Line): World => changeLine(world, act.client, change);
  switch (act.do) {
    case "frame":
      return onLine((line) => deliver({ ...line, down: line.down.slice(1) }, line.down[0], setting));
    case "copy":
      return onLine((line) => deliver({ ...line, copies: line.copies.slice(1) }, line.copies[0], setting));
    case "again":
      return onLine((line) =>
        deliver({ ...line, down: line.down.slice(1), copies: line.down.slice(0, 1) }, line.down[0], setting),
      );
    case "late-frame":
      return onLine((line) => deliverLate({ ...line, lateDown: line.lateDown.slice(1) }, line.lateDown[0], setting));
    case "swap":
      return onLine((line) => ({
        ...line,
        down: [...line.down.slice(1, 2), ...line.down.slice(0, 1), ...line.down.slice(2)],
      }));
    case "merge":
      return onLine((line) => ({ ...line, down: merged(line.down) }));
    case "command":
      return serve(
        onLine((line) => ({ ...line, said: line.said.slice(1) })),
        { client: act.client, command: world.lines[act.client]?.said[0], isLate: false },
        setting,
      );
    case "late-command":
      return serve(
        onLine((line) => ({ ...line, lateSaid: line.lateSaid.slice(1) })),
        { client: act.client, command: world.lines[act.client]?.lateSaid[0], isLate: true },
        setting,
      );
    case "attach":
      return onLine((line) => ({ ...line, attached: true }));
    case "connect":
      return onLine((line) => withClient({ ...line, up: true, served: true }, wentLive(line.client)));
    case "cut":
    case "closed":
      return onLine((line) => cut(line, setting));
    case "serve-page":
      return onLine((line) => servePage(line, world.owner, setting));
    case "take-page":
      return onLine((line) => withClient(line, takeAnswer(line.client, off)));
    case "verify":
      return onLine((line) => withClient(line, verify(line.client, world.owner)));
    default:
      return personTakes(world, act, setting);
  }
}

function personTakes(world: World, act: OfClient, { off, scope }: Setting): World {
  const onLine = (change: (line: Line) => Line): World => changeLine(world, act.client, change);
  const page = (side: PageSide): World => onLine((line) => withClient(line, askPage(line.client, side)));
  switch (act.do) {
    case "send":
      return onLine((line) => {
        const { client } = line;
        return withClient(line, sendMessage(client, chunkId(`${client.name}${client.sent.length + 1}`), off));
      });
    case "cancel":
    case "edit":
      return onLine((line) => withClient(line, say(line.client, onWaiting(line, act))));
    case "reload":
      return onLine((line) => ({ ...cut(line, { off, scope }), client: reload(line.client) }));
    case "older":
    case "newer":
      return page(act.do);
    case "to-end":
      return page("end");
    case "bottom":
      return onLine((line) => ({ ...line, client: { ...line.client, view: readAtEnd(line.client.view) } }));
    case "evict":
      return onLine((line) => ({ ...line, client: { ...line.client, view: evictLive(line.client.view) } }));
    default:
      return world;
  }
}

/** A command on one of the messages that are shown as waiting, made on the version that is shown. */
function onWaiting(line: Line, act: OfClient): Command {
  const message = [...line.client.view.state.queue.values()][act.on ?? 0]?.message;
  assert(message !== undefined, "an act is on something that is there");
  const { id, version } = message;
  if (act.do === "cancel") return { type: "cancel", re: 0, tab: theTab, id };
  return { type: "edit", re: 0, tab: theTab, id, version, text: `${id}.${version + 1}${line.client.name}` };
}

const deliver = (line: Line, told: Told | undefined, { off }: Setting): Line =>
  told === undefined ? line : withClient(line, takeFrame(line.client, told.frame, off));

/** A frame of an earlier connection: ignored, unless that rule is gone. */
function deliverLate(line: Line, told: Told | undefined, setting: Setting): Line {
  if (told === undefined || setting.off !== "old-socket") return line;
  if (told.frame.type === "ack") return withClient(line, takeLateAck(line.client, told.frame));
  return deliver(line, told, setting);
}

function cut(line: Line, { scope }: Setting): Line {
  const isSend = (command: Command): boolean => command.type !== "sub";
  return {
    ...line,
    client: wentDown(line.client),
    up: false,
    served: false,
    attached: false,
    down: [],
    said: [],
    copies: [],
    lateDown: scope.lateFrames === true ? line.down : [],
    lateSaid: scope.lateCommands === true ? line.said.filter(isSend) : [],
  };
}

function servePage(line: Line, owner: Owner, { scope }: Setting): Line {
  const { page } = line.client;
  if (page === null) return line;
  return { ...line, client: { ...line.client, page: { ...page, answer: pageOf(owner, page.query, scope.page) } } };
}

/** Two frames as a slower connection would have got them: the counted ops of both, then what the open blocks have grown by. */
function merged(down: readonly Told[]): readonly Told[] {
  const [first, second, ...rest] = down;
  if (first?.frame.type !== "ops" || second?.frame.type !== "ops") return down;
  const ops = [...first.frame.ops, ...second.frame.ops];
  const counted = ops.filter(isStamped);
  const open = new Set<string>(second.truth.open.map(({ block }) => block.id));
  const grown = ops.filter((op) => op.op === "chunk-delta" && open.has(op.id));
  const frame: OpsFrame = { ...second.frame, a: first.frame.a, ops: [...counted, ...grown] };
  return [{ frame, truth: second.truth }, ...rest];
}

// --- the server's end of a connection ------------------------------------------------------------------------------

interface Served {
  readonly client: number;
  readonly command: Command | undefined;
  readonly isLate: boolean;
}
function serve(world: World, { client, command, isLate }: Served, setting: Setting): World {
  switch (command?.type) {
    case "sub":
      return changeLine(world, client, (line) => subscribed(line, command, { owner: world.owner, setting }));
    case "send": {
      const { id, text } = command;
      const next = acted(world, send(world.owner, { id, text }, setting.off));
      return isLate ? next : changeLine(next, client, (line) => tell(line, ackOf(next.owner, command), next.owner));
    }
    case "cancel":
      return cancelled(world, command.id, setting);
    case "edit":
      return acted(world, edit(world.owner, command));
    default:
      return world;
  }
}

function subscribed(
  line: Line,
  command: Extract<Command, { readonly type: "sub" }>,
  { owner, setting }: { readonly owner: Owner; readonly setting: Setting },
): Line {
  const frame = headOf(owner, command, { page: setting.scope.page, off: setting.off });
  const told = tell({ ...line, have: command.have, want: command.want }, frame, owner);
  return { ...told, attached: setting.off !== "atomic-head" };
}

function ackOf(owner: Owner, { id, re }: Extract<Command, { readonly type: "send" }>) {
  const seq = owner.rows.find((row) => row.id === id)?.seq;
  const state = owner.inbox.get(id) ?? "dropped";
  return { type: "ack" as const, re, id, state, ...(seq === undefined ? {} : { seq }) };
}

function cancelled(world: World, id: Parameters<typeof cancel>[1], { off }: Setting): World {
  const act = cancel(world.owner, id, off);
  if (act.owner === world.owner) return world;
  return acted({ ...world, cancelled: [...world.cancelled, id] }, act);
}

// --- the owner -----------------------------------------------------------------------------------------------------

/** Terms lie apart, so that one of a clock that was set back fits between two. */
const termStep = 10;

function ownerTakes(world: World, act: Act, setting: Setting): World {
  const { owner, made } = world;
  const { off } = setting;
  const waiting = owner.queue[act.on ?? 0];
  switch (act.do) {
    case "remote-send": {
      const id = chunkId(`x${made.remote + 1}`);
      return acted({ ...world, made: { ...made, remote: made.remote + 1 } }, send(owner, { id, text: id }, off));
    }
    case "remote-cancel":
      return waiting === undefined ? world : cancelled(world, waiting.id, setting);
    case "remote-edit": {
      if (waiting === undefined) return world;
      const { id, version } = waiting;
      return acted(world, edit(owner, { id, version, text: `${id}.${version + 1}x` }));
    }
    case "consume":
      return acted(world, consume(owner, off));
    case "end":
      return acted(world, endTurn(owner, off));
    case "open":
      return acted(
        { ...world, made: { ...made, blocks: made.blocks + 1 } },
        openBlock(owner, `block-${made.blocks + 1}`, off),
      );
    case "grow":
      return acted(world, grow(owner, act.on ?? 0));
    case "seal":
      return acted(world, seal(owner, act.on ?? 0));
    case "drop":
      return acted(world, dropBlock(owner, act.on ?? 0));
    default:
      return fate(world, act, setting);
  }
}

/** What befalls an owner as a whole. */
function fate(world: World, act: Act, setting: Setting): World {
  const { owner, made, backup } = world;
  const higher = made.term + termStep;
  const restored = (term: number): World => {
    if (backup === null) return world;
    const next = { ...world, owner: takeOver(backup, [], term), isRestored: true };
    return serverGone({ ...next, made: { ...made, term: Math.max(made.term, term) } });
  };
  switch (act.do) {
    case "crash":
      return serverGone({
        ...world,
        owner: takeOver(durableOf(owner), owner.open, higher),
        made: { ...made, term: higher },
      });
    case "retake":
      return headToAll(
        { ...world, owner: takeOver(durableOf(owner), owner.open, higher), made: { ...made, term: higher } },
        setting,
      );
    case "clear":
      return pointed(world, { log: `log-${made.logs + 1}`, logs: made.logs + 1 }, setting);
    case "back":
      return pointed(world, { log: owner.former?.log ?? owner.log, logs: made.logs }, setting);
    case "backup":
      return { ...world, backup: durableOf(owner) };
    case "restore":
      return restored(setting.off === "fresh-term" ? (backup?.term ?? 0) + termStep : higher);
    case "set-back":
      return restored((backup?.term ?? 0) + 1);
    default:
      return world;
  }
}

function pointed(world: World, to: { readonly log: string; readonly logs: number }, setting: Setting): World {
  const log = logId(to.log);
  const held = acted(world, holdAll(world.owner));
  const { made } = world;
  if (setting.scope.termStays === true) {
    const told = acted(held, { owner: held.owner, ops: [{ op: "log", logId: log }] });
    const owner = pointTo(told.owner, log, told.owner.term);
    return headToAll({ ...told, owner, made: { ...made, logs: to.logs } }, setting);
  }
  const term = made.term + termStep;
  return headToAll({ ...held, owner: pointTo(held.owner, log, term), made: { ...made, logs: to.logs, term } }, setting);
}
