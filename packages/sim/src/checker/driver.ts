/**
 * Drives the real view of a client as the sync client does, one step at a time and without clock, socket or promise: what
 * it holds, what it has asked for, and what is under way on its connection. Immutable.
 */

import type { StoredOutboxEntry } from "@varve/client";
import {
  ackEvidence,
  addMessage,
  emptyView,
  fitsPage,
  loadEntries,
  type MessageFate,
  markSent,
  markUnsent,
  type Outbox,
  type Resub,
  type StoreChange,
  subCommand,
  type TabView,
  takeEvidence,
  takeFate,
  takeHead,
  takeOps,
  takePage,
  type ViewStep,
  type WindowMost,
  windowHi,
  windowLo,
} from "@varve/client/view";
import type { AckFrame, ChunkId, Command, HeadFrame, OpsFrame, Page } from "@varve/protocol";
import { type Owner, type PageQuery, theTab } from "./owner.ts";
import type { Off } from "./rules.ts";
import { ackSeenBy, afterHead, afterOps, afterPage, headSeenBy, opsSeenBy, pageSeenBy } from "./seams.ts";

export type ToClient = HeadFrame | OpsFrame | AckFrame;
/** A frame, and the owner as it was when it said this: what the client must show once it has taken it. */
export interface Told {
  readonly frame: ToClient;
  readonly truth: Owner;
}
export type PageSide = "older" | "newer" | "end";
export interface AskedPage {
  readonly side: PageSide;
  readonly query: PageQuery;
  readonly answer: Page | null;
}

export interface Client {
  readonly name: string;
  readonly view: TabView;
  /** What outlives the page. */
  readonly store: readonly StoredOutboxEntry[];
  readonly sub: { readonly kind: "off" | "pending" | "live"; readonly re: number };
  /** Sends that wait for their answer on this connection. */
  readonly asked: readonly { readonly id: ChunkId; readonly re: number }[];
  readonly unsure: readonly StoredOutboxEntry[];
  readonly page: AskedPage | null;
  /** Every message that it ever sent. */
  readonly sent: readonly ChunkId[];
  /** Commands that it has just said: the connection takes them. */
  readonly says: readonly Command[];
}

export const newClient = (name: string, most: WindowMost): Client => ({
  name,
  view: emptyView(theTab, most),
  store: [],
  sub: { kind: "off", re: 0 },
  asked: [],
  unsure: [],
  page: null,
  sent: [],
  says: [],
});

/** Time stands still: nothing that is checked depends on it. */
const now = 0;

// --- the connection ------------------------------------------------------------------------------------------------

export const wentLive = (client: Client): Client => subscribe(client, "needed");

export function wentDown(client: Client): Client {
  const outbox = markUnsent(client.view.outbox);
  return { ...client, sub: { ...client.sub, kind: "off" }, asked: [], view: withOutbox(client.view, outbox) };
}

/** Subscribes, then sends the outbox. */
function subscribe(client: Client, resub: Resub): Client {
  const re = client.sub.re + 1;
  const command = subCommand(client.view, { re, focus: true, whole: resub === "whole" });
  const view = withOutbox(client.view, markUnsent(client.view.outbox));
  return sendOutbox({ ...client, view, sub: { kind: "pending", re }, says: [...client.says, command] });
}

/** One message at a time: the next goes out behind its answer. */
function sendOutbox(client: Client): Client {
  const { re } = client.sub;
  const entry = client.view.outbox.pending.find(({ state }) => state === "waiting");
  if (entry === undefined || client.asked.some((asked) => asked.re === re)) return client;
  const { id, text, delivery } = entry;
  return {
    ...client,
    view: withOutbox(client.view, markSent(client.view.outbox, id)),
    // A message goes out once for each subscription, so that this with its id names one request.
    says: [...client.says, { type: "send", re, tab: theTab, id, text, delivery }],
    asked: [...client.asked, { id, re }],
  };
}

/** The page is loaded anew: only what the store holds is left. */
export function reload(client: Client): Client {
  const view = emptyView(theTab, client.view.most);
  const { outbox } = loadEntries(view.outbox, client.store, now);
  return { ...newClient(client.name, view.most), view: { ...view, outbox }, store: client.store, sent: client.sent };
}

// --- what arrives --------------------------------------------------------------------------------------------------

export function takeFrame(client: Client, frame: ToClient, off: Off): Client {
  switch (frame.type) {
    case "head":
      return takeHeadFrame(client, frame, off);
    case "ops": {
      const seen = opsSeenBy(client.view, frame, off);
      const step = afterOps(takeOps(client.view, seen, now), { before: client.view, frame: seen, off });
      return takeStep(client, step);
    }
    case "ack":
      return takeAck(client, ackSeenBy(frame, off));
    default:
      frame satisfies never;
      return client;
  }
}

function takeHeadFrame(client: Client, frame: HeadFrame, off: Off): Client {
  const answersSub = client.sub.kind === "pending" && frame.re === client.sub.re;
  const step = takeHead(client.view, headSeenBy(client.view, frame, off), { answersSub, now });
  const sub = answersSub ? { ...client.sub, kind: "live" as const } : client.sub;
  return takeStep({ ...client, sub }, afterHead(step, client.view, off));
}

function takeAck(client: Client, frame: AckFrame): Client {
  const at = client.asked.findIndex(({ id, re }) => id === frame.id && re === frame.re);
  if (at < 0) return client;
  const heard = believeAck({ ...client, asked: client.asked.toSpliced(at, 1) }, frame);
  return frame.re === client.sub.re ? sendOutbox(heard) : heard;
}

function believeAck(client: Client, frame: AckFrame): Client {
  const { logId, version } = client.view.state;
  if (logId === null || frame.id === undefined) return client;
  const evidence = ackEvidence(frame.id, frame.state, frame.seq);
  const step = takeEvidence(client.view.outbox, evidence, { tabId: theTab, logId, term: version[0], now });
  return { ...stored(client, step.changes), view: withOutbox(client.view, step.outbox) };
}

/** An `ack` that counts whoever asked: only where frames of an earlier socket are taken. */
export const takeLateAck = believeAck;

function takeStep(client: Client, step: ViewStep): Client {
  const next = { ...stored(client, step.changes), view: step.view, unsure: [...client.unsure, ...step.unsure] };
  return step.resub !== "none" && next.sub.kind === "live" ? subscribe(next, step.resub) : next;
}

// --- pages ---------------------------------------------------------------------------------------------------------

/** What a person can ask for now. */
export function canPage(client: Client, side: PageSide): boolean {
  const { view, page } = client;
  if (page !== null || !view.ready) return false;
  if (side === "end") return !view.attached;
  return side === "older" ? windowLo(view) > 1 : windowHi(view) < view.state.tail;
}

export function askPage(client: Client, side: PageSide): Client {
  const queries: Readonly<Record<PageSide, PageQuery>> = {
    older: { before: windowLo(client.view) },
    newer: { after: windowHi(client.view) },
    end: {},
  };
  return { ...client, page: { side, query: queries[side], answer: null } };
}

/** The answer arrives. One that does not fit is thrown away: the person may ask again. */
export function takeAnswer(client: Client, off: Off): Client {
  const asked = client.page;
  if (asked === null || asked.answer === null) return client;
  const { side } = asked;
  const without = { ...client, page: null };
  const page = pageSeenBy(client.view, asked.answer, off);
  const step = fitsPage(client.view, page, side) ? takePage(client.view, page, side) : null;
  const taken = step === null ? without : takeStep(without, step);
  return { ...taken, view: afterPage(taken.view, page, off) };
}

/** What became of a message that may have been lost in a restore: answered by the owner as it is now. */
export function verify(client: Client, owner: Owner): Client {
  const [entry, ...unsure] = client.unsure;
  if (entry === undefined) return client;
  const { view } = client;
  const step = takeFate(view.outbox, entry, fateIn(owner, entry.id));
  return { ...stored({ ...client, unsure }, step.changes), view: withOutbox(view, step.outbox) };
}

function fateIn(owner: Owner, id: ChunkId): MessageFate {
  const state = owner.inbox.get(id);
  if (state === undefined) return { kind: "unknown" };
  if (state === "dropped") return { kind: "dropped" };
  const row = owner.rows.find((one) => one.id === id);
  return { kind: "kept", term: owner.term, ...(row !== undefined && { seq: row.seq }) };
}

// --- acts of a person ----------------------------------------------------------------------------------------------

export function sendMessage(client: Client, id: ChunkId, off: Off): Client {
  const message = { id, text: id, attachments: [], delivery: "steer" as const, at: now };
  const sent = [...client.sent, id];
  const isSubscribed = client.sub.kind !== "off";
  if (off === "outbox") {
    const command: Command = { type: "send", re: 0, tab: theTab, id, text: id, delivery: "steer" };
    return { ...client, sent, says: isSubscribed ? [...client.says, command] : client.says };
  }
  const step = addMessage(client.view.outbox, theTab, message);
  const next = { ...stored(client, step.changes), sent, view: withOutbox(client.view, step.outbox) };
  return isSubscribed ? sendOutbox(next) : next;
}

export const say = (client: Client, command: Command): Client => ({ ...client, says: [...client.says, command] });

// --- parts ---------------------------------------------------------------------------------------------------------

const withOutbox = (view: TabView, outbox: Outbox): TabView => (outbox === view.outbox ? view : { ...view, outbox });

function stored(client: Client, changes: readonly StoreChange[]): Client {
  if (changes.length === 0) return client;
  const store = new Map(client.store.map((entry) => [entry.id, entry]));
  for (const change of changes) {
    if (change.kind === "put") store.set(change.entry.id, change.entry);
    else store.delete(change.id);
  }
  return { ...client, store: [...store.values()] };
}
