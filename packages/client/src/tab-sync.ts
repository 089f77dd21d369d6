/**
 * Drives one tab: feeds its view with frames and pages, keeps its subscription, sends its outbox, and is the handle that
 * views hold. All decisions on data are taken in `tab-view.ts`.
 */
import {
  type ChunkId,
  type Clock,
  type Command,
  type Delivery,
  type ErrorBody,
  type HeadFrame,
  limits,
  type OpsFrame,
  type Page,
  type TabId,
  type Timer,
} from "@varve/protocol";
import type { ClientPorts, StoredOutboxEntry, TabHandle, TabSnapshot } from "./client.ts";
import { decodePage } from "./decode.ts";
import { Listeners } from "./listeners.ts";
import {
  addMessage,
  forgetMessage,
  loadEntries,
  markSent,
  markUnsent,
  moveToLost,
  type Outbox,
  refuse,
  type StoreChange,
  sendAgain,
  takeEvidence,
} from "./outbox.ts";
import type { Reply } from "./requests.ts";
import { connectionLost, notConnected } from "./requests.ts";
import { firstSnapshot, nextSnapshot, type Paging } from "./snapshot.ts";
import { type SubState, stronger, subCommand, subDelayMs } from "./subscription.ts";
import {
  ackEvidence,
  emptyView,
  fitsPage,
  type Resub,
  readAtEnd,
  type TabView,
  takeHead,
  takeOps,
  takePage,
  type ViewStep,
  windowHi,
  windowLo,
} from "./tab-view.ts";

/** A page that does not fit (another term, or the window moved meanwhile) is read again after the next head, so often. */
const pageTriesMax = 3;

/**
 * Pages in which a message is looked for after a restore. One that stands further up counts as lost: sending it again is
 * answered with its fate.
 */
const searchPagesMax = 10;

/** What a tab needs of the connection. */
export interface TabWire {
  readonly live: () => boolean;
  readonly send: (command: Command) => boolean;
  /** Sends what `make` makes with a fresh number; the reply comes exactly once. */
  readonly request: (make: (re: number) => Command, answered: (reply: Reply) => void) => number | null;
  readonly answered: (re: number) => void;
  readonly rest: ClientPorts["rest"];
  readonly clock: Clock;
  readonly newId: () => ChunkId;
  readonly store: (changes: readonly StoreChange[]) => void;
  /** No handle is open any more, or nothing is under way: the owner may let the tab go. */
  readonly released: () => void;
}

type OnMessage = "hold" | "release" | "cancel";

export class TabSync {
  readonly tabId: TabId;
  readonly #wire: TabWire;
  readonly #listeners = new Listeners();
  #view: TabView;
  #shown: { readonly view: TabView; readonly paging: Paging; readonly snapshot: TabSnapshot } | undefined;
  #paging: Paging = null;
  #sub: SubState = { kind: "off" };
  #owed: Resub = "none";
  #resubsInARow = 0;
  #delay: Timer | undefined;
  #focused = false;
  #seen = 0;
  #handles = 0;
  #closed = false;
  #nextHead: (() => void)[] = [];

  constructor(tabId: TabId, wire: TabWire) {
    this.tabId = tabId;
    this.#wire = wire;
    this.#view = emptyView(tabId);
  }

  get view(): TabView {
    return this.#view;
  }
  /** True while somebody looks at the tab or a message of it is under way. */
  get needed(): boolean {
    return this.#handles > 0 || this.#view.outbox.pending.some((entry) => entry.state !== "refused");
  }

  // --- what the connection tells -----------------------------------------------------------------------------------

  wentLive(): void {
    this.#sub = { kind: "off" };
    this.#resubsInARow = 0;
    this.#subscribe("needed");
    if (this.#seen > 0) this.#wire.send({ type: "seen", tab: this.tabId, seq: this.#seen });
  }

  wentDown(): void {
    this.#sub = { kind: "off" };
    this.#owed = "none";
    this.#stopDelay();
    this.#setOutbox(markUnsent(this.#view.outbox));
  }

  takeOps(frame: OpsFrame): void {
    this.#take(takeOps(this.#view, frame, this.#wire.clock.now()));
  }

  takeHead(head: HeadFrame): void {
    const answersSub = this.#sub.kind === "pending" && head.re === this.#sub.re;
    if (answersSub && head.re !== undefined) this.#wire.answered(head.re);
    if (answersSub) this.#sub = { kind: "live" };
    const step = takeHead(this.#view, head, { answersSub, now: this.#wire.clock.now() });
    this.#owed = "none";
    this.#resubsInARow = step.resub === "none" ? 0 : this.#resubsInARow + 1;
    this.#take(step);
    for (const entry of step.unsure) void this.#verify(entry);
    for (const go of this.#nextHead.splice(0)) go();
  }

  /** What an earlier page left in the store. */
  load(entries: readonly StoredOutboxEntry[]): void {
    const step = loadEntries(this.#view.outbox, entries, this.#wire.clock.now());
    this.#setOutbox(step.outbox, step.changes);
    if (this.#sub.kind === "pending" || this.#sub.kind === "live") this.#sendOutbox();
  }

  close(): void {
    this.#closed = true;
    this.#stopDelay();
    this.#listeners.clear();
    for (const go of this.#nextHead.splice(0)) go();
    if (this.#sub.kind !== "off") this.#wire.send({ type: "unsub", tab: this.tabId });
    this.#sub = { kind: "off" };
  }

  // --- what views do -----------------------------------------------------------------------------------------------

  /** A handle is a person's hold on the tab; the tab lives while one is open. */
  handle(): TabHandle {
    this.#handles += 1;
    let open = true;
    const release = (): void => {
      if (!open) return;
      open = false;
      this.#handles -= 1;
      this.#wire.released();
    };
    return {
      tabId: this.tabId,
      snapshot: () => this.snapshot(),
      onChange: (listener) => this.#listeners.add(listener),
      send: (message) => this.#send(message),
      resend: (id) => this.#resend(id),
      forget: (id) => {
        const step = forgetMessage(this.#view.outbox, id);
        this.#setOutbox(step.outbox, step.changes);
      },
      edit: (id, text) => this.#change(id, { text }),
      setDelivery: (id, delivery) => this.#change(id, { delivery }),
      hold: (id) => this.#onMessage("hold", id),
      release: (id) => this.#onMessage("release", id),
      move: (id, before) => {
        const version = this.#version(id);
        return this.#ask((re) => ({ type: "move", re, tab: this.tabId, id, version, before }));
      },
      cancel: (id) => this.#onMessage("cancel", id),
      stop: (callId) => this.#stop(callId),
      answer: (askId, answer) =>
        this.#ask((re) => ({
          type: "answer",
          re,
          tab: this.tabId,
          askId,
          ...(answer.verdict === undefined ? {} : { verdict: answer.verdict }),
          ...(answer.text === undefined ? {} : { text: answer.text }),
          ...(answer.choice === undefined ? {} : { choice: answer.choice }),
          ...(answer.raiseTo === undefined ? {} : { raiseTo: answer.raiseTo }),
        })),
      pageOlder: () => this.#page("older"),
      pageNewer: () => this.#page("newer"),
      toEnd: () => this.#toEnd(),
      focus: (focused) => this.#focus(focused),
      seen: (seq) => this.#sawUpTo(seq),
      close: release,
    };
  }

  snapshot(): TabSnapshot {
    const shown = this.#shown;
    if (shown !== undefined && shown.view === this.#view && shown.paging === this.#paging) return shown.snapshot;
    const snapshot =
      shown === undefined ? firstSnapshot(this.#view, this.#paging) : nextSnapshot(shown, this.#view, this.#paging);
    this.#shown = { view: this.#view, paging: this.#paging, snapshot };
    return snapshot;
  }

  // --- subscription ------------------------------------------------------------------------------------------------

  #take(step: ViewStep): void {
    this.#setView(step.view);
    this.#wire.store(step.changes);
    if (step.resub !== "none") this.#needHead(step.resub);
    if (step.changes.length > 0 && !this.needed) this.#wire.released();
  }

  #needHead(resub: Resub): void {
    this.#owed = stronger(this.#owed, resub);
    if (this.#sub.kind === "off" || this.#sub.kind === "refused") return;
    if (this.#sub.kind === "pending" || this.#delay !== undefined) return;
    const delayMs = subDelayMs(this.#resubsInARow);
    if (delayMs === 0) {
      this.#subscribe(this.#owed);
      return;
    }
    this.#delay = this.#wire.clock.setTimer(delayMs, () => {
      this.#delay = undefined;
      this.#subscribe(this.#owed);
    });
  }

  /** Subscribes, then sends the outbox: in this order, so that the head never misses what a message became. */
  #subscribe(resub: Resub): void {
    if (this.#closed || !this.#wire.live()) return;
    this.#owed = "none";
    this.#stopDelay();
    const whole = resub === "whole";
    const re = this.#wire.request(
      (number) => subCommand(this.#view, { re: number, focus: this.#focused, whole }),
      (reply) => {
        if (reply.kind === "err") this.#sub = { kind: "refused" };
      },
    );
    if (re === null) return;
    this.#sub = { kind: "pending", re, tab: this.tabId };
    this.#setOutbox(markUnsent(this.#view.outbox));
    this.#sendOutbox();
  }

  #sendOutbox(): void {
    for (const entry of this.#view.outbox.pending) {
      if (entry.state !== "waiting") continue;
      const { id, text, delivery, turnId, attachments } = entry;
      const meant = turnId === undefined ? {} : { turnId };
      const sent = this.#wire.request(
        (re) => ({ type: "send", re, tab: this.tabId, id, text, delivery, ...meant, attachments: [...attachments] }),
        (reply) => this.#sendAnswered(id, reply),
      );
      if (sent === null) return;
      this.#setOutbox(markSent(this.#view.outbox, id));
    }
  }

  #sendAnswered(id: ChunkId, reply: Reply): void {
    if (reply.kind === "err") this.#setOutbox(refuse(this.#view.outbox, id, reply.error));
    const logId = this.#view.state.logId;
    if (reply.kind !== "ack" || logId === null) return;
    const evidence = ackEvidence(id, reply.frame.state, reply.frame.seq);
    const step = takeEvidence(this.#view.outbox, evidence, { tabId: this.tabId, logId, now: this.#wire.clock.now() });
    this.#setOutbox(step.outbox, step.changes);
    if (!this.needed) this.#wire.released();
  }

  /** A message that may have been lost in a restore: is it in the log, where it stood or below the page of the head? */
  async #verify(entry: StoredOutboxEntry): Promise<void> {
    const found = entry.seq === undefined ? await this.#findBelow(entry) : await this.#standsAt(entry, entry.seq);
    if (found === false && !this.#closed) this.#setOutbox(moveToLost(this.#view.outbox, entry));
  }

  /** Null when nobody can say now. */
  async #standsAt(entry: StoredOutboxEntry, seq: number): Promise<boolean | null> {
    const page = await this.#readPage(`after=${seq - 1}&limit=1`);
    return page === null || page.logId !== entry.logId ? null : page.chunks[0]?.id === entry.id;
  }

  async #findBelow(entry: StoredOutboxEntry): Promise<boolean | null> {
    let before = windowLo(this.#view);
    for (let pages = 0; pages < searchPagesMax && before > 1; pages++) {
      const page = await this.#readPage(`before=${before}&limit=${limits.pageRowsMax}`);
      if (page === null || page.logId !== entry.logId) return null;
      if (page.chunks.some((row) => row.id === entry.id)) return true;
      before = page.chunks[0]?.seq ?? 0;
    }
    return false;
  }

  // --- messages and commands ---------------------------------------------------------------------------------------

  #send(message: Parameters<TabHandle["send"]>[0]): ChunkId {
    const id = this.#wire.newId();
    const { turnId } = this.#view.state.status;
    const entry = {
      id,
      text: message.text,
      attachments: message.attachments ?? [],
      delivery: message.delivery ?? ("steer" as const),
      // Sent late, after a time without a connection, it must not stop a turn that nobody had seen when it was written.
      ...(message.delivery === "stop" && turnId !== null && { turnId }),
      at: this.#wire.clock.now(),
    };
    const step = addMessage(this.#view.outbox, this.tabId, entry);
    this.#setOutbox(step.outbox, step.changes);
    this.#sendIfSubscribed();
    return id;
  }

  #resend(id: ChunkId): void {
    const step = sendAgain(this.#view.outbox, this.tabId, id);
    this.#setOutbox(step.outbox, step.changes);
    this.#sendIfSubscribed();
  }

  /** Before the subscription is asked for, the message waits: it goes out right behind it. */
  #sendIfSubscribed(): void {
    if (this.#sub.kind === "pending" || this.#sub.kind === "live") this.#sendOutbox();
  }

  #version(id: ChunkId): number {
    return this.#view.state.queue.get(id)?.message.version ?? 1;
  }

  #change(id: ChunkId, change: { readonly text?: string; readonly delivery?: Delivery }): Promise<ErrorBody | null> {
    const message = this.#view.state.queue.get(id)?.message;
    if (message === undefined) return Promise.resolve(notWaiting);
    const text = change.text ?? message.data.text;
    const delivery = change.delivery ?? message.delivery;
    const { version } = message;
    return this.#ask((re) => ({ type: "edit", re, tab: this.tabId, id, version, text, delivery }));
  }

  #onMessage(type: OnMessage, id: ChunkId): Promise<ErrorBody | null> {
    if (type === "cancel") return this.#ask((re) => ({ type, re, tab: this.tabId, id }));
    const version = this.#version(id);
    return this.#ask((re) => ({ type, re, tab: this.tabId, id, version }));
  }

  /** Names the turn that is shown now, so that a late stop hits nothing. */
  #stop(callId: string | undefined): Promise<ErrorBody | null> {
    const turnId = this.#view.state.status.turnId;
    return this.#ask((re) => ({
      type: "stop",
      re,
      tab: this.tabId,
      ...(turnId === null ? {} : { turnId }),
      ...(callId === undefined ? {} : { callId }),
    }));
  }

  #ask(make: (re: number) => Command): Promise<ErrorBody | null> {
    return new Promise((resolve) => {
      const sent = this.#wire.request(make, (reply) => {
        if (reply.kind === "ack") resolve(null);
        else resolve(reply.kind === "err" ? reply.error : connectionLost);
      });
      if (sent === null) resolve(notConnected);
    });
  }

  #focus(focused: boolean): void {
    if (this.#focused === focused) return;
    this.#focused = focused;
    this.#wire.send({ type: "focus", tab: this.tabId, focus: focused });
  }

  #sawUpTo(seq: number): void {
    if (seq >= windowHi(this.#view)) this.#setView(readAtEnd(this.#view));
    if (seq <= this.#seen) return;
    this.#seen = seq;
    this.#wire.send({ type: "seen", tab: this.tabId, seq });
  }

  // --- pages -------------------------------------------------------------------------------------------------------

  async #page(side: "older" | "newer"): Promise<void> {
    const more = side === "older" ? windowLo(this.#view) > 1 : windowHi(this.#view) < this.#view.state.tail;
    if (this.#paging !== null || this.#closed || !more) return;
    this.#setPaging(side);
    for (let tries = 0; tries < pageTriesMax && !this.#closed; tries++) {
      const cursor = side === "older" ? `before=${windowLo(this.#view)}` : `after=${windowHi(this.#view)}`;
      const page = await this.#readPage(`${cursor}&limit=${limits.pageRowsDefault}`);
      if (page === null || this.#takePage(page, side)) break;
      if (page.logId !== this.#view.state.logId || page.term !== this.#view.state.version[0]) await this.#headComes();
    }
    this.#setPaging(null);
  }

  async #toEnd(): Promise<void> {
    if (this.#view.attached) return this.#setView(readAtEnd(this.#view));
    if (this.#paging !== null) return;
    this.#setPaging("newer");
    for (let tries = 0; tries < pageTriesMax && !this.#closed; tries++) {
      const page = await this.#readPage(`limit=${limits.pageRowsDefault}`);
      if (page === null || this.#takePage(page, "end")) break;
      await this.#headComes();
    }
    this.#setPaging(null);
  }

  #takePage(page: Page, side: "older" | "newer" | "end"): boolean {
    if (this.#closed || !fitsPage(this.#view, page, side)) return this.#closed;
    this.#take(takePage(this.#view, page, side));
    return true;
  }

  async #readPage(query: string): Promise<Page | null> {
    const answer = await this.#wire.rest({ method: "GET", path: `/tabs/${this.tabId}/chunks?${query}` });
    return answer.ok ? decodePage(answer.body) : null;
  }

  /** Resolves with the next head, or at once when none can come. */
  #headComes(): Promise<void> {
    if (this.#closed || !this.#wire.live()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#nextHead.push(resolve);
      this.#needHead("needed");
    });
  }

  // --- state -------------------------------------------------------------------------------------------------------

  #setView(view: TabView): void {
    if (view === this.#view) return;
    this.#view = view;
    this.#listeners.changed();
  }

  #setOutbox(outbox: Outbox, changes: readonly StoreChange[] = []): void {
    this.#wire.store(changes);
    if (outbox !== this.#view.outbox) this.#setView({ ...this.#view, outbox });
  }

  #setPaging(paging: Paging): void {
    this.#paging = paging;
    this.#listeners.changed();
  }

  #stopDelay(): void {
    this.#delay?.cancel();
    this.#delay = undefined;
  }
}

const notWaiting: ErrorBody = {
  code: "unknown-message",
  message: "This message does not wait any more.",
  hint: "It was sent or removed meanwhile; the tab shows which.",
};
