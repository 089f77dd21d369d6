/**
 * Drives one tab: feeds its view with frames and pages, keeps its subscription, sends its outbox, and is the handle that
 * views hold. All decisions on data are taken in `tab-view.ts`.
 */
import type { ChunkId, Clock, Command, ErrorBody, HeadFrame, OpsFrame, TabId, Timer } from "@varve/protocol";
import type { ClientPorts, StoredOutboxEntry, SyncCheck, TabHandle, TabSnapshot } from "./client.ts";
import { Listeners } from "./listeners.ts";
import { fateOf } from "./message-fate.ts";
import {
  addMessage,
  forgetMessage,
  isUnderWay,
  loadEntries,
  markSent,
  markUnsent,
  type Outbox,
  refuse,
  type StoreChange,
  sendAgain,
  takeEvidence,
  takeFate,
} from "./outbox.ts";
import { Patience, passesByItself } from "./patience.ts";
import type { Reply } from "./requests.ts";
import { connectionLost, notConnected } from "./requests.ts";
import { firstSnapshot, nextSnapshot, type Paging } from "./snapshot.ts";
import { type SubState, stronger, subCommand, subDelayMs } from "./subscription.ts";
import type { CheckOutcome } from "./sync-check.ts";
import { type TabCommands, tabCommands } from "./tab-commands.ts";
import { TabPages } from "./tab-pages.ts";
import type { TabStage } from "./tab-stage.ts";
import {
  ackEvidence,
  doubtLate,
  emptyView,
  type Resub,
  readAtEnd,
  type TabView,
  takeHead,
  takeOps,
  type ViewStep,
  windowHi,
} from "./tab-view.ts";

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
  /** What an earlier life of the page left is known, so sending may begin. */
  readonly outboxReady: () => boolean;
  /** No handle is open any more, or nothing is under way: the owner may let the tab go. */
  readonly released: () => void;
}

/** Loaded when first asked for: what compares rows is no part of what a page needs to paint. */
const loadCheck = (): Promise<typeof import("./sync-check.ts")> => import("./sync-check.ts");

export class TabSync {
  readonly tabId: TabId;
  readonly #wire: TabWire;
  readonly #listeners = new Listeners();
  #view: TabView;
  #shown: { readonly view: TabView; readonly paging: Paging; readonly snapshot: TabSnapshot } | undefined;
  #sub: SubState = { kind: "off" };
  #owed: Resub = "none";
  #resubsInARow = 0;
  #delay: Timer | undefined;
  #focused = false;
  #seen = 0;
  #handles = 0;
  #closed = false;
  #nextHead: (() => void)[] = [];
  readonly #stage: TabStage;
  readonly #pages: TabPages;
  readonly #commands: TabCommands;
  #checking: Promise<SyncCheck> | undefined;
  readonly #patience: Patience;
  /** Messages whose fate the server was asked for and did not tell: it is asked again behind the next head. */
  #unanswered: readonly StoredOutboxEntry[] = [];
  /** The message that is under way on this connection. The next one goes out behind its answer, so that they keep their order. */
  #sending: object | null = null;

  /** `outbox`: what was left of the tab when it was let go, or stood in the store. */
  constructor(tabId: TabId, wire: TabWire, outbox: Outbox) {
    this.tabId = tabId;
    this.#wire = wire;
    this.#view = { ...emptyView(tabId), outbox };
    const view = (): TabView => this.#view;
    this.#stage = {
      tabId,
      view,
      take: (step) => this.#take(step),
      headComes: () => this.#headComes(),
      live: wire.live,
      closed: () => this.#closed,
      rest: wire.rest,
      clock: wire.clock,
    };
    this.#patience = new Patience(wire.clock, () => this.#askAgain());
    this.#pages = new TabPages(this.#stage, () => this.#listeners.changed());
    this.#commands = tabCommands({ tabId, view, ask: (make) => this.#ask(make) });
  }

  get view(): TabView {
    return this.#view;
  }
  /** True while somebody looks at the tab or a message of it is under way. */
  get needed(): boolean {
    return this.#handles > 0 || this.#view.outbox.pending.some(isUnderWay);
  }

  // --- what the connection tells -----------------------------------------------------------------------------------

  wentLive(): void {
    this.#sub = { kind: "off" };
    this.#resubsInARow = 0;
    this.#patience.granted();
    this.#subscribe("needed");
    if (this.#seen > 0) this.#wire.send({ type: "seen", tab: this.tabId, seq: this.#seen });
  }

  wentDown(): void {
    this.#sub = { kind: "off" };
    this.#owed = "none";
    this.#stopDelay();
    this.#patience.stop();
    this.#tellHead();
    this.#sending = null;
    this.#setOutbox(markUnsent(this.#view.outbox));
  }

  takeOps(frame: OpsFrame): void {
    this.#take(takeOps(this.#view, frame, this.#wire.clock.now()));
  }

  takeHead(head: HeadFrame): void {
    const answersSub = this.#sub.kind === "pending" && head.re === this.#sub.re;
    if (answersSub && head.re !== undefined) this.#wire.answered(head.re);
    if (answersSub) {
      this.#sub = { kind: "live" };
      this.#patience.granted();
    }
    const step = takeHead(this.#view, head, { answersSub, now: this.#wire.clock.now() });
    this.#owed = "none";
    this.#resubsInARow = step.resub === "none" ? 0 : this.#resubsInARow + 1;
    this.#take(step);
    const asked = [...this.#unanswered, ...step.unsure];
    this.#unanswered = [];
    void this.#verify(asked);
    this.#tellHead();
  }

  /** What an earlier page left in the store. */
  load(entries: readonly StoredOutboxEntry[]): void {
    const step = loadEntries(this.#view.outbox, entries, this.#wire.clock.now());
    this.#setOutbox(step.outbox, step.changes);
    void this.#verify(doubtLate(this.#view, entries));
    this.sendIfSubscribed();
  }

  /** Before the subscription is asked for, messages wait: they go out right behind it. */
  sendIfSubscribed(): void {
    if (this.#sub.kind === "pending" || this.#sub.kind === "live") this.#sendOutbox();
  }

  close(): void {
    this.#closed = true;
    this.#stopDelay();
    this.#patience.stop();
    this.#listeners.clear();
    this.#tellHead();
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
      ...this.#commands,
      checkSync: () => this.#checkSync(),
      pageOlder: () => this.#pages.page("older"),
      pageNewer: () => this.#pages.page("newer"),
      toEnd: () => this.#pages.toEnd(),
      focus: (focused) => this.#focus(focused),
      seen: (seq) => this.#sawUpTo(seq),
      close: release,
    };
  }

  snapshot(): TabSnapshot {
    const shown = this.#shown;
    const { paging } = this.#pages;
    if (shown !== undefined && shown.view === this.#view && shown.paging === paging) return shown.snapshot;
    const snapshot = shown === undefined ? firstSnapshot(this.#view, paging) : nextSnapshot(shown, this.#view, paging);
    this.#shown = { view: this.#view, paging, snapshot };
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
        if (reply.kind !== "err") return;
        this.#sub = { kind: "refused" };
        this.#tellHead();
        if (passesByItself(reply.error)) this.#patience.refused();
      },
    );
    if (re === null) return;
    this.#sub = { kind: "pending", re, tab: this.tabId };
    this.#sending = null;
    this.#setOutbox(markUnsent(this.#view.outbox));
    this.#sendOutbox();
  }

  /** What was refused in passing is asked for again: the subscription first, for the outbox goes out behind it. */
  #askAgain(): void {
    if (this.#sub.kind === "refused") this.#subscribe("needed");
    else this.sendIfSubscribed();
  }

  /** One message at a time: one that is refused in passing must not be overtaken by those that were typed behind it. */
  #sendOutbox(): void {
    if (!this.#wire.outboxReady() || this.#sending !== null) return;
    const entry = this.#view.outbox.pending.find(({ state }) => state === "waiting");
    if (entry === undefined) return;
    const { id, text, delivery, turnId, attachments } = entry;
    const meant = turnId === undefined ? {} : { turnId };
    const sending = {};
    const sent = this.#wire.request(
      (re) => ({ type: "send", re, tab: this.tabId, id, text, delivery, ...meant, attachments: [...attachments] }),
      (reply) => {
        const isNewest = this.#sending === sending;
        if (isNewest) this.#sending = null;
        this.#sendAnswered(id, reply);
        const waits = this.#view.outbox.pending.some((item) => item.id === id && item.state === "waiting");
        if (isNewest && reply.kind !== "lost" && !waits) this.sendIfSubscribed();
      },
    );
    if (sent === null) return;
    this.#sending = sending;
    this.#setOutbox(markSent(this.#view.outbox, id));
  }

  #sendAnswered(id: ChunkId, reply: Reply): void {
    if (reply.kind === "err") {
      const refused = refuse(this.#view.outbox, { tabId: this.tabId, id, error: reply.error });
      this.#setOutbox(refused.outbox, refused.changes);
      if (passesByItself(reply.error)) this.#patience.refused();
    }
    const logId = this.#view.state.logId;
    if (reply.kind !== "ack" || logId === null) return;
    this.#patience.granted();
    const evidence = ackEvidence(id, reply.frame.state, reply.frame.seq);
    const term = this.#view.state.version[0];
    const where = { tabId: this.tabId, logId, term, now: this.#wire.clock.now() };
    const step = takeEvidence(this.#view.outbox, evidence, where);
    this.#setOutbox(step.outbox, step.changes);
    if (!this.needed) this.#wire.released();
  }

  /** One after the other: after a restart of the server there may be many. What nobody can say now is asked at the next head. */
  async #verify(entries: readonly StoredOutboxEntry[]): Promise<void> {
    for (const entry of entries) {
      if (!this.#view.outbox.kept.includes(entry)) continue;
      const fate = await fateOf(this.#stage, entry.id);
      if (this.#closed) return;
      // An owner of another term may have spoken of another database: what it said is not taken.
      if (fate === null || (fate.kind === "kept" && fate.term !== this.#view.state.version[0])) {
        this.#unanswered = [...this.#unanswered, entry];
        continue;
      }
      const step = takeFate(this.#view.outbox, entry, fate);
      this.#setOutbox(step.outbox, step.changes);
    }
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
    this.sendIfSubscribed();
    return id;
  }

  #resend(id: ChunkId): void {
    const step = sendAgain(this.#view.outbox, this.tabId, id);
    this.#setOutbox(step.outbox, step.changes);
    this.sendIfSubscribed();
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

  // --- comparing -----------------------------------------------------------------------------------------------------

  /** One check at a time: whoever asks during one gets its outcome. */
  #checkSync(): Promise<SyncCheck> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<SyncCheck> {
    const { lo, hi, at, mismatches } = this.#view.sync;
    this.#setView({ ...this.#view, sync: { state: "checking", lo, hi, at, mismatches } });
    const module = await loadCheck().catch(() => null); // The server was updated, or is gone: it is said below.
    const outcome = module === null ? notLoaded : await module.checkWindow(this.#stage);
    const { differed, ...told } = outcome;
    const sync = { ...told, at: this.#wire.clock.now(), mismatches: mismatches + (differed ? 1 : 0) };
    this.#setView({ ...this.#view, sync });
    return sync;
  }

  // --- state ---------------------------------------------------------------------------------------------------------

  /** Resolves with the next head, or at once when none can come. */
  #headComes(): Promise<void> {
    if (this.#closed || !this.#wire.live() || this.#sub.kind === "refused") return Promise.resolve();
    return new Promise((resolve) => {
      this.#nextHead.push(resolve);
      this.#needHead("needed");
    });
  }

  /** Nobody waits for a head that does not come: what needed it looks again at how things are. */
  #tellHead(): void {
    for (const go of this.#nextHead.splice(0)) go();
  }

  #setView(view: TabView): void {
    if (view === this.#view) return;
    this.#view = view;
    this.#listeners.changed();
  }

  #setOutbox(outbox: Outbox, changes: readonly StoreChange[] = []): void {
    this.#wire.store(changes);
    if (outbox !== this.#view.outbox) this.#setView({ ...this.#view, outbox });
  }

  #stopDelay(): void {
    this.#delay?.cancel();
    this.#delay = undefined;
  }
}

const notLoaded: CheckOutcome = {
  state: "failed",
  lo: 0,
  hi: 0,
  differed: false,
  error: {
    code: "log-unavailable",
    message: "The part of this page that compares rows could not be loaded.",
    hint: "Reload the page.",
  },
};
