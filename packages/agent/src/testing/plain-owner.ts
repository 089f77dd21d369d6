/**
 * A tab's owner for tests: small, over a real log, and true to the contract in `owner.ts`. It writes one batch at a time,
 * announces after the commit, and checks what the loop promises: what was opened is sealed or dropped, nothing comes after
 * the end of a turn.
 */
import type { Claim, Fence, InboxRecord, InboxWrite, Log } from "@varve/log";
import type {
  ChunkId,
  Clock,
  Delivery,
  IdMaker,
  LimitChoice,
  LogId,
  NewRow,
  OpenBlock,
  StoredRow,
  TabId,
  TabStatus,
  TurnEndReason,
  TurnId,
  Verdict,
} from "@varve/protocol";
import { assert, isFault, noTurn, parseLogId, parseTabId } from "@varve/protocol";
import type { Compacted } from "../compaction/compact-tab.ts";
import { compactTab } from "../compaction/compact-tab.ts";
import { afterTurn, atRest, steersToDrain, userRow } from "../drain.ts";
import { runTurn } from "../loop.ts";
import type { RunningTool, TurnOwner } from "../owner.ts";
import { OwnerGone } from "../owner.ts";
import type { TurnPorts } from "../ports.ts";
import { recover } from "../recover.ts";
import { isKind } from "../turn-rows.ts";

export interface PlainTabOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly ports: TurnPorts;
  /** Rows to seal in front of each turn's user rows. */
  readonly before: (rows: readonly StoredRow[]) => Promise<readonly NewRow[]>;
}

type Waiter = { readonly met: () => boolean; readonly go: () => void };

export class PlainTab {
  readonly opened: string[] = [];
  readonly open = new Map<ChunkId, { readonly block: Omit<OpenBlock, "offset" | "text">; text: string }>();
  readonly outputs = new Map<string, { readonly bytes: number; readonly tail: string }>();
  readonly retries: NonNullable<TabStatus["retry"]>[] = [];
  rows: readonly StoredRow[] = [];
  waiting: readonly InboxRecord[] = [];
  turnId: TurnId | null = null;
  step = 0;
  /** Rejects what is written from now on, as a server that was killed would. */
  dead = false;
  /** A person asked for a compaction. */
  compactionWish = false;
  /** The tools that run now, by call, in the order in which they began. */
  readonly running = new Map<string, { readonly name: string; move: (() => boolean) | null }>();
  #fence: Fence;
  #queue: Promise<unknown> = Promise.resolve();
  #cancel = new AbortController();
  readonly #callCancels = new Map<string, AbortController>();
  readonly #questions = new Map<ChunkId, (answer: StoredRow | null) => void>();
  #waiters: Waiter[] = [];
  readonly #options: PlainTabOptions;

  private constructor(options: PlainTabOptions, claim: Claim) {
    this.#options = options;
    this.#fence = claim;
    this.waiting = claim.waiting;
  }

  static async create(options: PlainTabOptions, names = { tab: "tab-1", log: "log-1" }): Promise<PlainTab> {
    const { id, logId } = idsOf(names);
    const { log, clock } = options;
    await log.createTab({
      id,
      logId,
      title: "t",
      options: {},
      cwd: options.ports.place.cwd,
      model: "m",
      effort: "default",
      permissions: "ask",
      parentId: null,
      createdAt: clock.now(),
    });
    return PlainTab.start(options, names);
  }

  /** As a server does at boot: claims the tab, reads its rows, recovers. */
  static async start(options: PlainTabOptions, names = { tab: "tab-1", log: "log-1" }): Promise<PlainTab> {
    const { id, logId } = idsOf(names);
    const claim = await options.log.claim(id, options.clock.now());
    assert(claim !== null && !isFault(claim), "the tab exists");
    const tab = new PlainTab(options, claim);
    const page = await options.log.page({ logId, limit: 500 });
    assert(!isFault(page), "the log can be read");
    tab.rows = page.rows;
    await tab.#recover(id);
    return tab;
  }

  async #recover(id: TabId): Promise<void> {
    const { log, clock, ids, ports } = this.#options;
    const recovery = recover({ rows: this.rows, blocks: log.journal.blocksOf(id), now: clock.now(), ids });
    if (recovery.turnId === null) return;
    const held = this.#holds(afterTurn(this.waiting, "restart").hold);
    await this.#commit(recovery.rows, held);
    log.journal.clear(id);
    if (recovery.resume === "waiting") {
      this.turnId = recovery.turnId;
      void runTurn(ports, this.#owner(recovery.turnId), recovery.turnId);
    }
  }

  /** Seals rows outside any turn. */
  seal(rows: readonly NewRow[]): Promise<readonly StoredRow[]> {
    assert(this.turnId === null, "no turn is open");
    return this.#commit(rows, []);
  }

  /** A compaction between two turns, as a server makes it. */
  compact(signal = new AbortController().signal): Promise<Compacted> {
    const owner = { rows: () => this.rows, seal: (rows: readonly NewRow[]) => this.#commit(rows, []), cancel: signal };
    return compactTab(this.#options.ports, owner, { trigger: "manual", place: { turnId: noTurn, step: 0 } });
  }

  /** Idle: begins a turn. Running: waits in the queue. */
  async send(text: string, delivery: Delivery = "steer"): Promise<ChunkId> {
    const { clock, ids } = this.#options;
    const id = ids.chunk();
    const data = { text };
    const at = clock.now();
    if (this.turnId !== null) {
      await this.#commit([], [{ write: "accept", id, state: "queued", delivery, data, by: "c", at }]);
      if (delivery === "stop") this.stop();
      return id;
    }
    const turnId = ids.turn();
    this.turnId = turnId;
    const before = await this.#options.before(this.rows);
    await this.#commit(
      [...before, userRow({ id, data, by: "c" }, { turnId, step: 0, at })],
      [{ write: "accept", id, state: "sealed", delivery, data, by: "c", at }],
    );
    this.#run(turnId);
    return id;
  }

  stop(reason: "stopped" | "deadline" | "restart" = "stopped"): void {
    this.#cancel.abort(reason);
    for (const settle of this.#questions.values()) settle(null);
    this.#questions.clear();
  }
  stopCall(callId: string): void {
    this.#cancelOf(callId).abort("stopped");
  }

  async answer(verdict: Verdict, reason?: string): Promise<void> {
    const asked = this.questions()[0];
    assert(asked !== undefined, "there is a question");
    assert(isKind(asked, "permission") && asked.data.state === "asked", "it is about a permission");
    const { askId, callId, subject } = asked.data;
    await this.#answer(asked, {
      kind: "permission",
      state: "answered",
      askId,
      callId,
      verdict,
      by: "c",
      ...(reason === undefined ? {} : { reason }),
      ...(verdict === "tab" ? { allows: { tool: subject.tool, key: subject.key } } : {}),
    });
  }
  async say(answer: string): Promise<void> {
    const asked = this.questions()[0];
    assert(asked !== undefined, "there is a question");
    assert(isKind(asked, "ask") && asked.data.state === "asked", "it is a question of the ask tool");
    const { askId, callId } = asked.data;
    await this.#answer(asked, { kind: "ask", state: "answered", askId, callId, answer, by: "c" });
  }

  /** Answers the question about a limit. What `raise` means is the test's business: it does so in `spending` before. */
  async answerLimit(choice: LimitChoice, raiseTo?: number): Promise<void> {
    const asked = this.questions()[0];
    assert(asked !== undefined, "there is a question");
    assert(isKind(asked, "limit") && asked.data.state === "asked", "it is about a limit");
    const { askId, limit } = asked.data;
    const raised = raiseTo === undefined ? {} : { raiseTo };
    await this.#answer(asked, { kind: "limit", state: "answered", askId, limit, choice, ...raised, by: "c" });
  }

  /** Questions that wait for a person, oldest first. */
  questions(): readonly StoredRow[] {
    return this.rows.filter(
      (row) =>
        (isKind(row, "permission") || isKind(row, "ask") || isKind(row, "limit")) &&
        row.data.state === "asked" &&
        this.#questions.has(row.data.askId),
    );
  }

  async edit(id: ChunkId, change: { readonly text?: string; readonly state?: "queued" | "held" }): Promise<void> {
    const record = this.waiting.find((one) => one.id === id);
    assert(record !== undefined, "the message waits");
    const data = change.text === undefined ? {} : { data: { text: change.text } };
    const state = change.state === undefined ? {} : { state: change.state };
    await this.#commit([], [{ write: "change", id, version: record.version, ...data, ...state }]);
    if (this.turnId === null) await this.#begin(atRest(this.waiting));
  }

  /** Resolves as soon as the condition holds; it is looked at after every act of the loop. */
  until(met: () => boolean): Promise<void> {
    if (met()) return Promise.resolve();
    return new Promise((go) => this.#waiters.push({ met, go }));
  }
  idle(): Promise<void> {
    return this.until(() => this.turnId === null);
  }

  /** The process is gone: nothing is written or announced any more, and running tools are told. */
  kill(): void {
    this.dead = true;
    this.#cancel.abort("stopped");
  }

  #owner(turnId: TurnId): TurnOwner {
    const live = (): void => assert(this.turnId === turnId, "nothing comes after the end of a turn");
    return {
      rows: () => this.rows,
      seal: async (rows) => {
        live();
        return this.#commit(rows, []);
      },
      open: (block) => {
        live();
        if (this.dead) return;
        this.open.set(block.id, { block, text: "" });
        this.opened.push(block.id);
        const { id, ...meta } = block;
        const { tabId, logId } = this.#fence;
        this.#options.log.journal.write([{ entry: "open", tabId, logId, id, meta: { ...meta, modelScope: "" } }]);
        this.#look();
      },
      grow: (id, text) => {
        live();
        if (this.dead) return;
        const block = this.open.get(id);
        assert(block !== undefined, "only an open block grows");
        const { tabId } = this.#fence;
        this.#options.log.journal.write([{ entry: "text", tabId, id, offset: block.text.length, text }]);
        block.text += text;
        this.#look();
      },
      drop: (id) => {
        live();
        assert(this.dead || this.open.delete(id), "only an open block is dropped");
        this.#look();
      },
      output: (callId, bytes, tail) => {
        live();
        this.outputs.set(callId, { bytes, tail });
        this.#look();
      },
      progress: (step, retry) => {
        live();
        this.step = step;
        if (retry !== undefined) this.retries.push(retry);
        this.#look();
      },
      ask: (asked, signal) => this.#ask(asked, signal),
      takeCompactionWish: () => {
        const wished = this.compactionWish;
        this.compactionWish = false;
        return wished;
      },
      drainSteers: (id, step) => this.#drain(id, step),
      endTurn: (reason, rows) => this.#end(turnId, reason, rows),
      cancel: this.#cancel.signal,
      cancelOf: (callId) => this.#cancelOf(callId).signal,
      runs: (call) => this.#runs(call),
    };
  }

  #run(turnId: TurnId): void {
    this.#cancel = new AbortController();
    this.#callCancels.clear();
    void runTurn(this.#options.ports, this.#owner(turnId), turnId);
  }

  async #ask(asked: NewRow, signal: AbortSignal): Promise<StoredRow | null> {
    assert(asked.type === "system" && "askId" in asked.data, "a question has an askId");
    const { askId } = asked.data;
    if (!this.rows.some((row) => row.id === asked.id)) await this.#commit([asked], []);
    if (signal.aborted) return null;
    return new Promise((resolve) => {
      this.#questions.set(askId, resolve);
      const withdraw = (): void => {
        this.#questions.delete(askId);
        resolve(null);
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#look();
    });
  }

  async #answer(asked: StoredRow, data: Extract<StoredRow, { type: "system" }>["data"]): Promise<void> {
    assert("askId" in data, "an answer names its question");
    const { turnId, step } = asked;
    const { clock, ids } = this.#options;
    const row: NewRow = { id: ids.chunk(), turnId, step, role: "system", type: "system", data, createdAt: clock.now() };
    const [sealed] = await this.#commit([row], []);
    const settle = this.#questions.get(data.askId);
    this.#questions.delete(data.askId);
    settle?.(sealed ?? null);
  }

  async #drain(turnId: TurnId, step: number): Promise<number> {
    const steers = steersToDrain(this.waiting);
    if (steers.length === 0) return 0;
    await this.#commit(...this.#sealing(steers, { turnId, step }));
    return steers.length;
  }

  async #end(turnId: TurnId, reason: TurnEndReason, rows: readonly NewRow[]): Promise<void> {
    const { ids, clock } = this.#options;
    const { send, hold } = afterTurn(this.waiting, reason);
    const end: NewRow = {
      id: ids.chunk(),
      turnId,
      step: this.step,
      role: "system",
      type: "system",
      data: { kind: "turn-end", reason },
      createdAt: clock.now(),
    };
    await this.#commit([...rows, end], this.#holds(hold));
    assert(this.open.size === 0, "a turn leaves no block open");
    await this.#begin(send);
  }

  async #begin(messages: readonly InboxRecord[]): Promise<void> {
    if (messages.length === 0) {
      this.turnId = null;
      this.#look();
      return;
    }
    const turnId = this.#options.ids.turn();
    this.turnId = turnId;
    const before = await this.#options.before(this.rows);
    const [rows, writes] = this.#sealing(messages, { turnId, step: 0 });
    await this.#commit([...before, ...rows], writes);
    this.#run(turnId);
  }

  #sealing(
    messages: readonly InboxRecord[],
    place: { readonly turnId: TurnId; readonly step: number },
  ): [rows: readonly NewRow[], writes: readonly InboxWrite[]] {
    const at = this.#options.clock.now();
    return [
      messages.map((message) => userRow(message, { ...place, at })),
      messages.map(({ id }) => ({ write: "seal", id })),
    ];
  }

  #holds(messages: readonly InboxRecord[]): readonly InboxWrite[] {
    return messages.map(({ id, version }) => ({ write: "change", id, version, state: "held" }));
  }

  /** One batch at a time, in call order; ops only after the commit. */
  #commit(rows: readonly NewRow[], inbox: readonly InboxWrite[]): Promise<readonly StoredRow[]> {
    const work = this.#queue.then(async () => {
      if (this.dead) throw new OwnerGone("killed");
      const outcome = await this.#options.log.commit(this.#fence, { rows, inbox });
      if (this.dead) throw new OwnerGone("killed");
      if (outcome.kind === "refused" && outcome.fault.code === "result-already-sealed") return [];
      assert(outcome.kind === "committed", `the log takes every batch: ${JSON.stringify(outcome)}`);
      this.rows = [...this.rows, ...outcome.rows];
      const { tabId } = this.#fence;
      for (const { id } of outcome.rows) {
        if (this.open.delete(id)) this.#options.log.journal.write([{ entry: "closed", tabId, id }]);
      }
      const touched = new Set(outcome.inbox.map((record) => record.id));
      const waits = outcome.inbox.filter((record) => record.state === "queued" || record.state === "held");
      this.waiting = [...this.waiting.filter((record) => !touched.has(record.id)), ...waits].toSorted(
        (a, b) => a.position - b.position,
      );
      this.#look();
      return outcome.rows;
    });
    this.#queue = work.catch(() => undefined); // The caller hears of it; the queue goes on.
    return work;
  }

  #cancelOf(callId: string): AbortController {
    const known = this.#callCancels.get(callId) ?? new AbortController();
    this.#callCancels.set(callId, known);
    return known;
  }

  #runs({ callId, name }: { readonly callId: string; readonly name: string }): RunningTool {
    assert(!this.running.has(callId), "a call runs once");
    const tool: { readonly name: string; move: (() => boolean) | null } = { name, move: null };
    this.running.set(callId, tool);
    this.#look();
    return {
      canMove: (move) => {
        tool.move = move;
        this.#look();
      },
      ended: () => {
        assert(this.running.delete(callId), "a call ends once");
        this.#look();
      },
    };
  }

  #look(): void {
    const met = this.#waiters.filter((waiter) => waiter.met());
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const waiter of met) waiter.go();
  }
}

function idsOf(names: { readonly tab: string; readonly log: string }): { readonly id: TabId; readonly logId: LogId } {
  const id = parseTabId(names.tab);
  const logId = parseLogId(names.log);
  assert(id !== null && logId !== null, "legal names");
  return { id, logId };
}
