/**
 * The owner of one tab: every command reaches it here. A command reads the tab's state and writes what it decided within
 * one act of the mailbox, so two clients can never both find the tab idle, and a stop can never hit the next turn.
 */
import { afterTurn, atRest, rowsBeforeTurn, runTurn, type TabContext, type TurnPorts, userRow } from "@varve/agent";
import type { CommitOutcome, InboxWrite } from "@varve/log";
import {
  type Accepted,
  type AnswerBody,
  assert,
  type BackgroundBody,
  type ChunkId,
  type Fault,
  fault,
  isFault,
  type LimitName,
  type MessageBody,
  type MessageFate,
  type NewRow,
  noTurn,
  type QueuedMessage,
  type QueuePatch,
  type StopBody,
  type StoredRow,
  type TextData,
  type Timer,
  type TurnId,
} from "@varve/protocol";
import type { Reading } from "../context/log-reading.ts";
import { closing, outcomeFault, trashed } from "./act-faults.ts";
import { answeredRow, askedMax, projectRulesOf, revokedRow } from "./answer.ts";
import { endBroken } from "./broken-turn.ts";
import { compactable, runCompaction } from "./compaction-turn.ts";
import { cancelInside, fateInside, patchInside } from "./queue-acts.ts";
import { refuse } from "./refuse.ts";
import { acceptedBefore, type Sent, sendLater, sentAgain } from "./send-later.ts";
import { afterRestart, holding, type TabCore } from "./tab-core.ts";
import type { Raise } from "./tab-money.ts";
import { titleOf } from "./title.ts";
import { atMost, turnLeft } from "./turn-left.ts";
import { noOpenTurn, TurnRun } from "./turn-run.ts";
import type { QueueFault } from "./workspace-contract.ts";

export interface ActorPorts {
  readonly core: TabCore;
  /** What a turn of this tab needs, made anew for each turn: directory, model and mode may have changed. */
  readonly turnPorts: () => TurnPorts;
  readonly context: () => TabContext;
  /** A turn that takes longer is ended with reason `deadline`. Null: none. */
  readonly turnDeadlineMs: number | null;
  /** A person raised a limit that the tab's turn came to: kept before their answer is. */
  readonly raise: (limit: LimitName, raise: Raise) => Promise<Fault | null>;
  /** Rules were allowed for every tab in this directory: kept likewise. */
  readonly keepRules: (rules: readonly string[]) => Fault | null;
  /** The tab came to rest, with its rows as they are now. */
  readonly rested: () => void;
  /** The loop broke a promise of its own; the tab goes on, the evidence is logged. */
  readonly broke: (error: unknown, turnId: TurnId) => void;
}

/** Rows of a tab at rest are freed after this long. */
const restMs = 60_000;
/** Wait before waiting messages are tried again that could not be written. */
const sendRetryMs = 5_000;

/** A stop that is not reached by then goes past what is being done. */
const stopWaitMs = 100;

/** All rows of a log, and what they say of its requests. */
export interface ReadLog {
  readonly rows: readonly StoredRow[];
  readonly reading: Reading;
}

export class TabActor {
  readonly core: TabCore;
  readonly #ports: ActorPorts;
  #turn: TurnRun | null = null;
  #restTimer: Timer | null = null;
  #deadline: Timer | null = null;
  #retry: Timer | null = null;
  #closing = false;
  /** A mistake of ours that even the turn's end could not be written behind: nothing is done here until a restart. */
  #stuck: Fault | null = null;
  /** A turn ended well before it came to the step boundary at which a person's wish is granted: the next one does it. */
  #owesCompaction = false;

  /** Inside the mailbox: a turn is open, so the tab must not be pointed elsewhere. */
  get isRunning(): boolean {
    return this.#turn !== null;
  }

  constructor(ports: ActorPorts) {
    this.#ports = ports;
    this.core = ports.core;
  }

  get turn(): TurnRun | null {
    return this.#turn;
  }

  send(message: MessageBody, by: string): Promise<Sent | Fault> {
    return this.act(() => this.sendInside(message, by));
  }

  /** In the mailbox, on the tab as it is: what a commit has written whose answer was lost is known before. */
  act<T>(act: () => Promise<T>): Promise<T | Fault> {
    return this.core.mailbox.run(async () => {
      const problem = this.#stuck ?? (this.core.inDoubt ? await this.core.settle() : null);
      const outcome = problem ?? (await act());
      // Nobody may ask for a long time: what was written all the same is looked for, and shown, without being asked.
      if (this.core.inDoubt && !this.#closing) this.#tryAgain();
      return outcome;
    });
  }

  /** Inside the mailbox: all rows. A tab at rest frees them again. */
  load(): Promise<readonly StoredRow[] | Fault> {
    if (this.#turn === null) this.#soonAtRest();
    return this.core.load();
  }

  /** The log as it is now, for somebody who looks at it; a tab at rest frees its rows again. */
  readLog(): Promise<ReadLog | Fault> {
    return this.act(async () => {
      const rows = await this.load();
      return isFault(rows) ? rows : { rows: [...rows], reading: this.core.reading() };
    });
  }

  /** Inside the mailbox: seals rows that are no news for a person who had seen everything before them. */
  async sealQuietly(rows: readonly NewRow[]): Promise<Fault | null> {
    const { tail, tab } = this.core;
    const seen = tab.seen === tail ? { tab: { seen: tail + rows.length } } : {};
    const outcome = await this.core.commit({ rows, ...seen });
    if (this.#turn === null) this.#soonAtRest();
    return outcome.kind === "committed" ? null : outcomeFault(outcome);
  }

  /** Why nothing of this tab can be changed between turns; null when it can. */
  between(): Fault | null {
    if (this.#turn !== null) return fault("tab-running", "A turn is running in this tab.", "Nothing was changed.");
    if (this.core.tab.trashedAt !== null) return trashed();
    return this.#closing ? closing() : null;
  }

  /** A person asks for a compaction: between turns it is a turn of its own, in a turn it comes at the next step boundary. */
  compact(): Promise<{ readonly state: "started" | "asked" } | Fault> {
    return this.act(async () => {
      if (this.#turn !== null) {
        this.#turn.wishCompaction();
        return { state: "asked" as const };
      }
      return (await this.#compactNow()) ?? { state: "started" as const };
    });
  }

  /** Inside the mailbox, between two turns. */
  async #compactNow(): Promise<Fault | null> {
    const refusal = this.between();
    if (refusal !== null) return refusal;
    const rows = await this.load();
    if (isFault(rows)) return rows;
    const problem = await compactable(rows, this.#ports.turnPorts().models);
    if (problem !== null) return problem;
    this.#restTimer?.cancel();
    this.#start(this.core.ports.ids.turn(), runCompaction);
    return null;
  }

  /** Inside the mailbox: what no turn has granted is made now; where it cannot be, a row says why. */
  async #compactAsWished(): Promise<void> {
    this.#owesCompaction = false;
    const problem = await this.#compactNow();
    if (problem === null || this.between() !== null) return;
    const { ids, clock } = this.core.ports;
    const level = problem.code === "nothing-to-compact" ? "info" : "warning";
    const data = { kind: "notice", level, code: problem.code, text: problem.message } as const;
    const place = { id: ids.chunk(), turnId: noTurn, step: 0, createdAt: clock.now() };
    await this.core.commit({ rows: [{ ...place, role: "system", type: "system", data }] });
  }

  /** Inside the mailbox: what these rows began goes on, and what they were to stop is stopped. */
  async settled(rows: readonly StoredRow[], stops: boolean): Promise<void> {
    if (stops) this.#turn?.stop("stopped");
    for (const row of rows) {
      if (row.type !== "system" || !("askId" in row.data) || row.data.state !== "answered") continue;
      this.#turn?.answered(row, row.data.askId);
    }
    const begun = rows.find((row) => row.role === "user")?.turnId;
    if (this.#turn !== null || begun === undefined) return;
    const held = await this.core.load();
    if (isFault(held)) this.#tryAgain();
    else this.#start(begun);
  }

  /** Inside the mailbox. */
  async sendInside(message: MessageBody, by: string): Promise<Sent | Fault> {
    const waiting = this.core.feed.queued(message.id);
    if (waiting !== undefined) return sentAgain(this.#turn, waiting, message);
    const refusal = this.refusal(message);
    if (refusal !== null) return refusal;
    const data: TextData = { text: message.text, ...(message.attachments && { attachments: message.attachments }) };
    return this.#turn === null
      ? this.#sendNow(message.id, data, by)
      : sendLater({ core: this.core, turn: this.#turn }, message, { data, by });
  }

  /** Why a new message is not taken now, whether or not a turn is open. */
  refusal(message: Pick<MessageBody, "text" | "attachments">): Fault | null {
    const wrong = refuse(message);
    if (wrong !== null) return wrong;
    if (this.core.tab.trashedAt !== null) return trashed();
    return this.#closing ? closing() : null;
  }

  /** The tab went to the trash: its turn is stopped, and what waits is held until it is restored and released. */
  rest(): Promise<void> {
    return this.core.mailbox.run(async () => {
      // A fault: what waits by it is held when it is known.
      if (this.core.inDoubt) await this.core.settle();
      if (this.#turn !== null) return this.#turn.stop("stopped");
      const inbox = holding(this.core.feed.queue());
      if (inbox.length > 0) await this.core.commit({ rows: [], inbox });
    });
  }

  patchQueued(id: ChunkId, patch: QueuePatch): Promise<QueuedMessage | QueueFault> {
    return this.act(async (): Promise<QueuedMessage | QueueFault> => {
      const patched = await patchInside({ core: this.core, turn: this.#turn }, id, patch);
      if (isFault(patched)) return patched;
      await this.#queueChanged(patched.stops);
      return patched.record;
    });
  }

  cancelQueued(id: ChunkId): Promise<Accepted | Fault> {
    return this.act(() => cancelInside(this.core, id));
  }

  messageFate(id: ChunkId): Promise<MessageFate | Fault> {
    return this.act(() => fateInside(this.core, id));
  }

  /** Behind what was asked before; but what runs is not kept running by a write that waits for the disk. */
  stop(body: StopBody): Promise<{ readonly stopped: boolean }> {
    const open = this.#turn;
    let stopped = false;
    const timer = this.core.ports.clock.setTimer(stopWaitMs, () => {
      stopped = open?.stopAsked(body) ?? false;
    });
    const asked = this.core.mailbox.run(() => ({ stopped: stopped || (this.#turn?.stopAsked(body) ?? false) }));
    return asked.finally(() => timer.cancel());
  }

  background({ callId, turnId }: BackgroundBody): Promise<{ readonly moved: boolean }> {
    return this.core.mailbox.run(() => {
      const turn = this.#turn;
      const meant = turn !== null && (turnId === undefined || turnId === turn.turnId);
      return { moved: meant && turn.toBackground(callId) };
    });
  }

  answer(body: AnswerBody, by: string): Promise<Fault | null> {
    return this.act(async () => {
      const rows = await this.load();
      if (isFault(rows)) return rows;
      const place = { id: this.core.ports.ids.chunk(), at: this.core.ports.clock.now(), by };
      const row = answeredRow(rows, body, place);
      if (isFault(row)) return row;
      const turn = this.#turn;
      if (turn === null || !turn.waitsFor(body.askId)) return noOpenTurn();
      const unkept = await this.#kept(row, rows);
      if (unkept !== null) return unkept;
      const outcome = await this.core.commit({ rows: [row] });
      if (outcome.kind !== "committed") return outcomeFault(outcome);
      const sealed = outcome.rows[0];
      assert(sealed !== undefined, "a batch of one row was committed without it");
      turn.answered(sealed, body.askId);
      return null;
    });
  }

  /** Takes back what an answer allowed for this tab; a turn that runs goes by it from its next call on. */
  takeBack(askId: ChunkId, by: string): Promise<Fault | null> {
    return this.act(async () => {
      const rows = await this.load();
      if (isFault(rows)) return rows;
      const { ids, clock } = this.core.ports;
      const row = revokedRow(rows, askId, { id: ids.chunk(), at: clock.now(), by });
      return isFault(row) ? row : this.sealQuietly([row]);
    });
  }

  /** What an answer changes beyond its tab is kept before the answer is. */
  async #kept(row: NewRow, rows: readonly StoredRow[]): Promise<Fault | null> {
    const rules = projectRulesOf(row);
    if (rules.length > 0) return this.#ports.keepRules(rules);
    const { type, data } = row;
    const answer = type === "system" && data.kind === "limit" && data.state === "answered" ? data : null;
    if (answer?.choice !== "raise" || answer.raiseTo === undefined) return null;
    return this.#ports.raise(answer.limit, { raiseTo: answer.raiseTo, max: askedMax(rows, answer.askId) });
  }

  /**
   * Takes over what an earlier process left: seals `rows`, holds what waits unless the tab wishes it sent (`goOn`), and goes
   * on with the turn when it only waits for a person. Inside the mailbox.
   */
  async takeOver(rows: readonly NewRow[], waitingTurn: TurnId | null): Promise<CommitOutcome> {
    const sends = this.core.tab.trashedAt === null && afterRestart(this.core).sendAfterRestart;
    const hold = sends ? [] : holding(this.core.feed.queue());
    const nothing = rows.length === 0 && hold.length === 0;
    const outcome: CommitOutcome = nothing
      ? { kind: "committed", rows: [], tail: this.core.tail, inbox: [] }
      : await this.core.commit({ rows, inbox: hold });
    if (outcome.kind !== "committed") return outcome;
    if (waitingTurn !== null) this.#start(waitingTurn);
    else this.#comeToRest();
    return outcome;
  }

  /** Behind `takeOver`, in the same act: what it left to be sent begins a turn, as after a normal end. */
  async goOn(): Promise<void> {
    if (this.#turn !== null) return;
    const { send } = afterTurn(this.core.feed.queue(), "restart", afterRestart(this.core));
    await this.#sendWaiting(send).catch(async (error: unknown) => {
      await this.#notBegun(error);
      this.#ports.broke(error, noTurn);
    });
  }

  /**
   * No new turn begins. One that runs ends at its next step boundary, or is stopped when `graceMs` are over; one that waits
   * for a person stays open.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    // Behind whatever is being done, unless that waits for the disk: a message that was taken already has begun its turn then.
    const done = this.core.mailbox.run(() => undefined);
    await atMost(this.core.ports.clock, graceMs, done);
    if (this.#turn !== null) await turnLeft(this.core, this.#turn, graceMs);
    this.gone();
    this.core.journal.flush();
  }

  /** Nothing runs and nothing will: no timer keeps the tab in memory. */
  gone(): void {
    for (const timer of [this.#restTimer, this.#retry, this.#deadline]) timer?.cancel();
  }

  async #sendNow(id: ChunkId, data: TextData, by: string): Promise<Sent | Fault> {
    const at = this.core.ports.clock.now();
    const outcome = await this.#begin(
      [{ id, data, by }],
      [{ write: "accept", id, state: "sealed", delivery: "steer", data, by, at }],
    );
    if (isFault(outcome)) return outcome;
    if (outcome.kind !== "committed") return acceptedBefore(this.core, outcome, id);
    const seq = outcome.rows.find((row) => row.id === id)?.seq;
    return { id, state: "sealed", ...(seq !== undefined && { seq }) };
  }

  /** After a change in the queue: a tab at rest sends what was released; a new stop-and-send stops the turn. */
  async #queueChanged(stops: boolean): Promise<void> {
    if (this.#turn !== null) {
      if (stops) this.#turn.stop("stopped");
      return;
    }
    await this.#sendWaiting(atRest(this.core.feed.queue()));
  }

  /**
   * Inside the mailbox: begins a turn with messages that wait. When that cannot be written they stay queued, the tab shows
   * why, and it is tried again.
   */
  async #sendWaiting(messages: readonly QueuedMessage[]): Promise<void> {
    if (messages.length === 0 || this.#closing || this.core.tab.trashedAt !== null) return;
    const inbox = messages.map(({ id }): InboxWrite => ({ write: "seal", id }));
    const outcome = await this.#begin(messages, inbox);
    if (!isFault(outcome) && outcome.kind === "committed") {
      if (this.core.feed.status.fault !== undefined) this.core.status({ fault: undefined });
      return;
    }
    const { code, message } = isFault(outcome) ? outcome : outcomeFault(outcome);
    this.core.status({ fault: { code, message } });
    this.#tryAgain();
  }

  /** What could not be written, or perhaps was, is looked at again in a while. */
  #tryAgain(): void {
    this.#retry?.cancel();
    this.#retry = this.core.ports.clock.setTimer(sendRetryMs, () => {
      this.act(() => this.#queueChanged(false)).then(
        (problem) => isFault(problem) && this.#tryAgain(),
        (error: unknown) => this.#ports.broke(error, this.#turn?.turnId ?? noTurn),
      );
    });
  }

  async #begin(
    messages: readonly { readonly id: ChunkId; readonly data: TextData; readonly by: string }[],
    inbox: readonly InboxWrite[],
  ): Promise<CommitOutcome | Fault> {
    const { core } = this;
    this.#restTimer?.cancel();
    const held = await core.load();
    if (isFault(held)) return held;
    const before = await rowsBeforeTurn(this.#ports.context(), held);
    const turnId = core.ports.ids.turn();
    const at = core.ports.clock.now();
    const users = messages.map((message) => userRow(message, { turnId, step: 0, at }));
    const title = core.tab.title === "" ? titleOf(messages[0]?.data.text ?? "") : core.tab.title;
    const outcome = await core.commit({ rows: [...before, ...users], inbox, tab: { updatedAt: at, title } });
    if (outcome.kind === "committed") this.#start(turnId);
    else this.#soonAtRest();
    return outcome;
  }

  #start(turnId: TurnId, run: typeof runTurn = runTurn): void {
    const turn = new TurnRun({
      core: this.core,
      turnId,
      ended: async (send, reason) => {
        this.#deadline?.cancel();
        this.#turn = null;
        this.#owesCompaction = turn.takeCompactionWish() && reason === "done" && run === runTurn;
        await this.#behind(send).catch(async (error: unknown) => {
          await this.#notBegun(error);
          throw error;
        });
      },
    });
    this.#turn = turn;
    if (this.#owesCompaction) turn.wishCompaction();
    this.#owesCompaction = false;
    turn.progress(lastStep(this.core.rows.held(), turnId));
    const deadline = this.#ports.turnDeadlineMs;
    if (deadline !== null) this.#deadline = this.core.ports.clock.setTimer(deadline, () => turn.stop("deadline"));
    turn.finished = run(this.#ports.turnPorts(), turn, turnId)
      .catch((error: unknown) => error)
      .then((error) => this.#returned(turn, turn.evidence ?? error));
  }

  /** Inside the mailbox, right behind a turn's end: what begins next, or rest. */
  async #behind(send: readonly QueuedMessage[]): Promise<void> {
    if (send.length > 0) await this.#sendWaiting(send);
    if (this.#owesCompaction) await this.#compactAsWished();
    if (this.#turn === null) this.#comeToRest();
  }

  /** A mistake of ours kept the next turn from beginning: the tab says so, and nothing waits there unseen. */
  async #notBegun(error: unknown): Promise<void> {
    if (this.#turn !== null) return;
    this.core.status({ state: "error", fault: { code: "internal", message: this.#told(error) } });
    // Where even this cannot be written the messages stay as they are, beside the fault.
    await this.core.commit({ rows: [], inbox: holding(this.core.feed.queue()) }).catch(() => undefined);
    this.#comeToRest();
  }

  /** The loop has returned. A turn that it left open, though the tab is still ours, met a mistake of ours. */
  async #returned(turn: TurnRun, error: unknown): Promise<void> {
    if (!turn.isOver && !turn.isGone) {
      await this.core.mailbox.run(async () => {
        turn.close();
        this.#deadline?.cancel();
        this.#turn = null;
        this.#stuck = await endBroken(this.core, turn.turnId, this.#told(error));
        this.#comeToRest();
      });
    }
    if (error !== undefined && !turn.isGone) this.#ports.broke(error, turn.turnId);
  }

  #told(error: unknown): string {
    const text = error instanceof Error ? error.message : "its loop left it open";
    return this.#ports.turnPorts().models.redact(text);
  }

  #comeToRest(): void {
    this.#soonAtRest();
    this.#ports.rested();
  }

  #soonAtRest(): void {
    this.#restTimer?.cancel();
    this.#restTimer = this.core.ports.clock.setTimer(restMs, () => {
      if (this.#turn !== null) return;
      this.core.free();
      this.core.feed.rest();
    });
  }
}

const lastStep = (rows: readonly StoredRow[], turnId: TurnId): number =>
  rows.reduce((step, row) => (row.turnId === turnId ? Math.max(step, row.step) : step), 0);
