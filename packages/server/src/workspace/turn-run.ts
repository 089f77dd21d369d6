/**
 * One open turn: the loop's owner (see `owner.ts` of the agent), and the handle by which commands reach it.
 *
 * Faults of the disk never reach the loop: what it wants sealed stays in memory, the tab shows the fault, and writing is
 * tried again until there is room or the server stops. Between two tries the mailbox is free, so that the tab answers.
 */
import {
  afterTurn,
  OwnerGone,
  openQuestions,
  owesResult,
  type RunningTool,
  steersToDrain,
  type TurnOwner,
  userRow,
} from "@varve/agent";
import type { Batch, CommitOutcome, InboxWrite } from "@varve/log";
import {
  assert,
  type ChunkId,
  type Fault,
  fault,
  type NewRow,
  type QueuedMessage,
  type StopBody,
  type StoredRow,
  type TabStatus,
  type TurnEndReason,
  type TurnId,
  type Wait,
} from "@varve/protocol";
import { RunningCalls } from "./running-calls.ts";
import { afterRestart, holding, type TabCore } from "./tab-core.ts";

/** Wait between two tries to write, in ms: doubled up to the second. */
const writeRetryMs = 250;
const writeRetryMaxMs = 5_000;

/** What a status says besides when no turn is open. */
export const noTurnOpen = {
  turnId: null,
  step: 0,
  waits: [],
  calls: undefined,
  retry: undefined,
  fault: undefined,
} satisfies Partial<TabStatus>;

type Answered = (row: StoredRow | null) => void;

export interface TurnRunPorts {
  readonly core: TabCore;
  readonly turnId: TurnId;
  /** Inside the mailbox, right after the turn ended: begins the next one with these, or leaves the tab at rest. */
  readonly ended: (send: readonly QueuedMessage[], reason: TurnEndReason) => Promise<void>;
}

export class TurnRun implements TurnOwner {
  readonly turnId: TurnId;
  readonly #core: TabCore;
  readonly #ended: TurnRunPorts["ended"];
  readonly #cancel = new AbortController();
  readonly #calls = new Map<string, AbortController>();
  /** The calls that wait for an answer now. Which questions are open the rows say: after a restart they are there first. */
  readonly #asking = new Map<ChunkId, Answered>();
  readonly #running: RunningCalls;
  /** Aborts when the server stops waiting for the disk. */
  readonly #giveUp = new AbortController();
  #step = 0;
  #endsSoon = false;
  #compactionWish = false;
  #over = false;
  #evidence: unknown = null;
  /** Settles when the loop has returned. Set by whoever started it. */
  finished: Promise<void> = Promise.resolve();

  constructor(ports: TurnRunPorts) {
    this.#core = ports.core;
    this.turnId = ports.turnId;
    this.#ended = ports.ended;
    this.#running = new RunningCalls({ clock: ports.core.ports.clock, changed: () => this.#showWaits() });
  }

  get cancel(): AbortSignal {
    return this.#cancel.signal;
  }
  /** Somebody stopped it; what is sent from now on is meant for the next turn. */
  get stopping(): boolean {
    return this.#cancel.signal.aborted;
  }

  get isOver(): boolean {
    return this.#over;
  }
  /** The right to write is gone, or the server has stopped waiting for the disk: what is open stays open for recovery. */
  get isGone(): boolean {
    return this.#giveUp.signal.aborted || this.#core.gone !== null;
  }
  /** The first mistake of ours that its end, or what came right behind it, has met; null: none. */
  get evidence(): unknown {
    return this.#evidence;
  }

  stop(reason: "stopped" | "deadline" | "restart"): void {
    this.#cancel.abort(reason);
  }

  /** The server is about to end: the turn ends at its next step boundary, and at once when it only waits to try again. */
  endSoon(): void {
    this.#endsSoon = true;
    if (this.#core.feed.status.retry !== undefined) this.stop("restart");
  }

  /** What a person asks for. False: another turn is meant, or there is nothing of this one to stop. */
  stopAsked({ turnId, callId }: StopBody): boolean {
    if (this.#over || (turnId !== undefined && turnId !== this.turnId)) return false;
    if (callId !== undefined) return this.#stopCall(callId);
    this.stop("stopped");
    return true;
  }

  /** False: the turn has no such call that is still to be answered. */
  #stopCall(callId: string): boolean {
    if (!owesResult(this.rows(), this.turnId, callId)) return false;
    this.#callControl(callId).abort("stopped");
    this.#showWaits();
    return true;
  }

  /** Inside the mailbox. False: no such call runs, or it cannot go on without its turn. */
  toBackground(callId: string): boolean {
    return !this.stopping && this.#running.toBackground(callId);
  }

  /** The server is closing: waiting for the disk ends, the loop gets `OwnerGone`. */
  abandon(): void {
    this.#giveUp.abort();
  }

  /** Inside the mailbox: whether an answer to this question is still wanted. */
  waitsFor(askId: ChunkId): boolean {
    return this.#waits().some((wait) => wait.askId === askId);
  }

  /** Inside the mailbox, after the answer was sealed. A call that does not ask yet will find it in the rows. */
  answered(row: StoredRow, askId: ChunkId): void {
    const answered = this.#asking.get(askId);
    this.#asking.delete(askId);
    this.#showWaits();
    answered?.(row);
  }

  rows(): readonly StoredRow[] {
    return this.#core.rows.held();
  }

  async seal(rows: readonly NewRow[]): Promise<readonly StoredRow[]> {
    return this.#sealAll(rows, (batch) => this.#core.commit(batch));
  }

  open(block: Parameters<TurnOwner["open"]>[0]): void {
    this.#core.open(block);
  }
  grow(id: ChunkId, text: string): void {
    this.#core.grow(id, text);
  }
  drop(id: ChunkId): void {
    this.#core.drop(id);
  }
  output(callId: string, bytes: number, tail: string): void {
    this.#core.feed.setOutput({ callId, bytes, tail });
  }

  progress(step: number, retry?: TabStatus["retry"]): void {
    this.#step = step;
    this.#core.status({ ...this.#shown(), retry });
    if (this.#endsSoon && retry !== undefined) this.stop("restart");
  }

  cancelOf(callId: string): AbortSignal {
    return this.#callControl(callId).signal;
  }

  runs(call: { readonly callId: string; readonly name: string }): RunningTool {
    return this.#running.began(call);
  }

  async ask(asked: NewRow, signal: AbortSignal): Promise<StoredRow | null> {
    const wait = waitOf(asked);
    if (!this.#rowOf(wait.askId, "asked")) await this.seal([asked]);
    const over = AbortSignal.any([this.cancel, signal]);
    const box = await this.#core.mailbox.run(() => {
      const answered = this.#rowOf(wait.askId, "answered");
      if (answered !== undefined || over.aborted) return { answer: Promise.resolve(answered ?? null) };
      // Boxed: a promise returned as it is would hold the mailbox until a person answers.
      return { answer: this.#registered(wait, over) };
    });
    return box.answer;
  }

  /** A person asks for a compaction while the turn runs: it comes at the next step boundary. */
  wishCompaction(): void {
    this.#compactionWish = true;
  }
  takeCompactionWish(): boolean {
    const wished = this.#compactionWish;
    this.#compactionWish = false;
    return wished;
  }

  async drainSteers(turnId: TurnId, step: number): Promise<number> {
    let drained = 0;
    if (this.#endsSoon) {
      this.stop("restart");
      return drained;
    }
    await this.#write(async () => {
      const steers = steersToDrain(this.#core.feed.queue());
      drained = steers.length;
      if (drained === 0) return null;
      const at = this.#core.ports.clock.now();
      return this.#core.commit({
        rows: steers.map((message) => userRow(message, { turnId, step, at })),
        inbox: steers.map((message): InboxWrite => ({ write: "seal", id: message.id })),
      });
    });
    return drained;
  }

  async endTurn(reason: TurnEndReason, rows: readonly NewRow[]): Promise<void> {
    try {
      await this.#endTurn(reason, rows);
    } catch (error) {
      if (!(error instanceof OwnerGone)) this.#evidence ??= error;
      throw error;
    }
  }

  /** Inside the mailbox: its end was written by somebody else, or cannot be: nothing comes of it any more. */
  close(): void {
    this.#over = true;
    this.#running.close();
    this.stop("stopped");
    for (const id of this.#core.feed.open.keys()) this.#core.drop(id);
    this.#core.journal.flush();
  }

  async #endTurn(reason: TurnEndReason, rows: readonly NewRow[]): Promise<void> {
    const core = this.#core;
    assert(!this.#over, `turn ${this.turnId} ended twice`);
    const end: NewRow = {
      id: core.ports.ids.chunk(),
      turnId: this.turnId,
      step: this.#step,
      role: "system",
      type: "system",
      data: { kind: "turn-end", reason },
      createdAt: core.ports.clock.now(),
    };
    await this.#sealAll([...rows, end], async (batch) => {
      const queue = core.feed.queue();
      // Nothing begins in the trash.
      const lives = core.tab.trashedAt === null;
      const after = lives ? afterTurn(queue, reason, afterRestart(core)) : { send: [], hold: queue };
      const inbox = holding(after.hold);
      const outcome = await core.commit({ ...batch, inbox });
      if (outcome.kind !== "committed") return outcome;
      this.#over = true;
      this.#running.close();
      for (const id of core.feed.open.keys()) core.drop(id);
      core.journal.flush();
      core.status({ ...noTurnOpen, state: reason === "error" ? "error" : "idle", lastSealed: this.turnId });
      await this.#ended(after.send, reason);
      return outcome;
    });
  }

  #callControl(callId: string): AbortController {
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const control = new AbortController();
    this.#calls.set(callId, control);
    return control;
  }

  #rowOf(askId: ChunkId, state: "asked" | "answered"): StoredRow | undefined {
    return this.rows().findLast(
      ({ type, data }) => type === "system" && "askId" in data && data.askId === askId && data.state === state,
    );
  }

  #registered(wait: Wait, over: AbortSignal): Promise<StoredRow | null> {
    return new Promise((resolve) => {
      const stopped = (): void => {
        this.#asking.delete(wait.askId);
        this.#showWaits();
        resolve(null);
      };
      over.addEventListener("abort", stopped, { once: true });
      const answered = (row: StoredRow | null): void => {
        over.removeEventListener("abort", stopped);
        resolve(row);
      };
      this.#asking.set(wait.askId, answered);
      this.#showWaits();
    });
  }

  #showWaits(): void {
    if (!this.#over) this.#core.status(this.#shown());
  }

  #shown(): Pick<TabStatus, "state" | "turnId" | "step" | "waits" | "calls"> {
    const waits = [...this.#waits()];
    const state = waits.length > 0 ? "waiting" : "running";
    return { state, turnId: this.turnId, step: this.#step, waits, calls: this.#running.shown() };
  }

  #waits(): readonly Wait[] {
    if (this.stopping) return [];
    const open = openQuestions(this.rows(), this.turnId).map(waitOf);
    return open.filter(({ callId }) => callId === "" || this.#calls.get(callId)?.signal.aborted !== true);
  }

  /** A row that breaks the first-result rule is left out; the others are sealed all the same. */
  async #sealAll(
    rows: readonly NewRow[],
    commit: (batch: Batch) => Promise<CommitOutcome>,
  ): Promise<readonly StoredRow[]> {
    let sealed: readonly StoredRow[] = [];
    let left = rows;
    await this.#write(async () => {
      if (left.length === 0) return null;
      const outcome = await commit({ rows: left });
      if (outcome.kind === "committed") sealed = outcome.rows;
      if (outcome.kind !== "refused" || outcome.fault.code !== "result-already-sealed") return outcome;
      left = await this.#withoutRefused(left);
      for (const row of rows) if (!left.includes(row)) this.#core.drop(row.id);
      return "again";
    });
    return sealed;
  }

  /** Rows less the results of calls that already have one, or whose step is over. */
  async #withoutRefused(rows: readonly NewRow[]): Promise<readonly NewRow[]> {
    const held = this.rows();
    const answered = new Set(held.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : [])));
    const kept = rows.filter((row) => row.type !== "tool_result" || !answered.has(row.data.callId));
    assert(kept.length < rows.length, "the log refused a result that has no rival in this tab");
    return kept;
  }

  /** Runs `act` in the mailbox until it is not a fault of the world any more. */
  async #write(act: () => Promise<CommitOutcome | "again" | null>): Promise<void> {
    for (let attempt = 0; ; ) {
      if (this.#over) throw new OwnerGone("the turn is over");
      const outcome = await this.#core.mailbox.run(() => this.#onTabAsItIs(act));
      if (outcome === null) return attempt > 0 ? this.#showFault(null) : undefined;
      if (outcome === "again") continue;
      // Behind the turn's end the tab's status speaks of what comes next.
      if (outcome.kind === "committed") return this.#over ? undefined : this.#showFault(null);
      if (outcome.kind === "refused") throw new Error(`the log refused the turn's rows: ${outcome.fault.message}`);
      if (outcome.kind === "fenced" || this.#core.gone !== null) throw new OwnerGone("another process owns this tab");
      this.#showFault(outcome.fault);
      await this.#pause(Math.min(writeRetryMs * 2 ** attempt, writeRetryMaxMs));
      attempt++;
    }
  }

  /** What a commit has written whose answer was lost is known before anything is decided: a message that waits by it waits. */
  async #onTabAsItIs<T>(act: () => Promise<T>): Promise<T | Extract<CommitOutcome, { kind: "failed" }>> {
    const problem = this.#core.inDoubt ? await this.#core.settle() : null;
    return problem === null ? act() : { kind: "failed", fault: problem };
  }

  #showFault(problem: Fault | null): void {
    const shown = this.#core.feed.status.fault;
    if (problem === null ? shown === undefined : shown?.code === problem.code) return;
    this.#core.status({
      fault: problem === null ? undefined : { code: problem.code, message: problem.message },
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const gone = (): void => {
        timer.cancel();
        reject(new OwnerGone("the server is closing"));
      };
      const timer = this.#core.ports.clock.setTimer(ms, () => {
        this.#giveUp.signal.removeEventListener("abort", gone);
        resolve();
      });
      if (this.#giveUp.signal.aborted) gone();
      else this.#giveUp.signal.addEventListener("abort", gone, { once: true });
    });
  }
}

function waitOf(asked: NewRow): Wait {
  const { type, data } = asked;
  assert(type === "system" && "askId" in data && data.state === "asked", "not a question");
  return { askId: data.askId, kind: data.kind, callId: data.kind === "limit" ? "" : data.callId };
}

export const noOpenTurn = (): Fault =>
  fault("unknown-question", "That question is not open any more.", "The turn that asked it has ended.");
