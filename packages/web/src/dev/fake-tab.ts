/** A tab that lives in the page: accepts all acts at once and streams an answer. Only for development. */
import type { OpenView, PendingMessage, SyncCheck, TabHandle, TabSnapshot } from "@varve/client";
import type { Clock, ErrorBody, JsonObject, LogChunk, QueuedMessage, TabId, TabStatus, Wait } from "@varve/protocol";
import { parseLogId } from "@varve/protocol";
import { ANSWER, chunkId, known, turnId } from "./fake-rows.ts";

export interface FakeScene {
  readonly rows: readonly LogChunk[];
  readonly open?: readonly OpenView[];
  readonly queue?: readonly QueuedMessage[];
  readonly pending?: readonly PendingMessage[];
  readonly status?: Partial<TabStatus>;
  readonly outputs?: TabSnapshot["outputs"];
  readonly lost?: readonly PendingMessage[];
  /** What comparing the rows leads to. */
  readonly sync?: SyncCheck["state"];
  /** Rows in the window at first: the rest is paged in. */
  readonly held?: number;
}

/** Rows that one page brings. */
const PAGE_ROWS = 40;

const unreachable: ErrorBody = { code: "log-unavailable", message: "The server does not answer." };
const idle: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };

export class FakeTab implements TabHandle {
  readonly tabId: TabId;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  readonly #log: LogChunk[];
  #now: TabSnapshot;
  #next = 0;
  readonly #outcome: SyncCheck["state"];

  constructor(tabId: TabId, clock: Clock, scene: FakeScene) {
    this.tabId = tabId;
    this.#clock = clock;
    this.#log = [...scene.rows];
    this.#outcome = scene.sync ?? "same";
    const tail = scene.rows.length;
    const lo = scene.held === undefined ? 1 : Math.max(1, tail - scene.held + 1);
    this.#now = {
      tabId,
      logId: known(parseLogId(`log-${tabId}`)),
      rows: this.#log.slice(lo - 1),
      open: scene.open ?? [],
      queue: scene.queue ?? [],
      pending: scene.pending ?? [],
      outputs: scene.outputs ?? new Map(),
      status: { ...idle, lastSealed: scene.rows.at(-1)?.turnId ?? null, ...scene.status },
      window: { lo: tail === 0 ? 0 : lo, hi: tail, tail, attached: true, unread: 0, paging: null },
      ready: true,
      lost: scene.lost ?? [],
      sync: { state: "unknown", lo: 0, hi: 0, at: 0, mismatches: 0 },
    };
  }

  snapshot(): TabSnapshot {
    return this.#now;
  }
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  send(message: { readonly text: string; readonly delivery?: "steer" | "queue" | "stop" }) {
    const id = chunkId(`mine-${this.#next++}`);
    const { state } = this.#now.status;
    if (state === "running" || state === "waiting") {
      const place = { version: 1, position: this.#next, state: "queued", by: "me", at: this.#clock.now() } as const;
      const waiting = { id, ...place, delivery: message.delivery ?? "steer", data: { text: message.text } };
      this.#change({ queue: [...this.#now.queue, waiting] });
      return id;
    }
    const turn = turnId(`turn-${id}`);
    this.#seal({ role: "user", type: "text", data: { text: message.text } }, { id, turn });
    this.#change({ status: { ...this.#now.status, state: "running", turnId: turn } });
    this.#stream(turn, 0);
    return id;
  }
  resend = (id: string) => {
    const lost = this.#now.lost.find((one) => one.id === id);
    this.#change({
      lost: this.#now.lost.filter((one) => one.id !== id),
      pending: [
        ...this.#now.pending.map((one) => (one.id === id ? { ...one, state: "sent" as const } : one)),
        ...(lost ? [{ ...lost, state: "sent" as const }] : []),
      ],
    });
  };
  forget = (id: string) =>
    this.#change({
      pending: this.#now.pending.filter((one) => one.id !== id),
      lost: this.#now.lost.filter((one) => one.id !== id),
    });
  edit = (id: string, text: string) => this.#patch(id, { data: { text } });
  setDelivery = (id: string, delivery: QueuedMessage["delivery"]) => this.#patch(id, { delivery });
  hold = (id: string) => this.#patch(id, { state: "held" });
  release = (id: string) => this.#patch(id, { state: "queued" });
  async move(id: string, before: string | null) {
    const moved = this.#now.queue.filter((one) => one.id === id);
    const others = this.#now.queue.filter((one) => one.id !== id);
    const at = before === null ? others.length : others.findIndex((one) => one.id === before);
    this.#change({ queue: [...others.slice(0, at), ...moved, ...others.slice(at)] });
    return null;
  }
  async cancel(id: string) {
    this.#change({ queue: this.#now.queue.filter((one) => one.id !== id) });
    return null;
  }
  async stop(callId?: string) {
    if (callId !== undefined) return this.#endCall(callId, { result: "stopped", isError: true, details: {} });
    const { calls: _, ...status } = this.#now.status;
    const queue = this.#now.queue.map((one) => ({ ...one, state: "held" as const }));
    this.#change({ queue, status: { ...status, state: "idle", turnId: null, waits: [] }, open: [] });
    const data = { kind: "turn-end", reason: "stopped" } as const;
    if (status.turnId !== null) this.#seal({ role: "system", type: "system", data }, { turn: status.turnId });
    return null;
  }
  async background(callId: string) {
    return this.#endCall(callId, { result: "⟨job 1: running⟩", isError: false, details: { job: "1" } });
  }
  async checkSync(): Promise<SyncCheck> {
    const { lo, hi } = this.#now.window;
    this.#change({ sync: { ...this.#now.sync, state: "checking" } });
    await new Promise<void>((resolve) => void this.#clock.setTimer(150, resolve));
    const state = this.#outcome;
    const mismatches = this.#now.sync.mismatches + (state === "healed" || state === "different" ? 1 : 0);
    const sync: SyncCheck = {
      state,
      lo,
      hi,
      at: this.#clock.now(),
      mismatches,
      ...(state === "failed" && { error: unreachable }),
    };
    this.#change({ sync });
    return sync;
  }
  async answer(askId: string, answer: Parameters<TabHandle["answer"]>[1]) {
    const wait = this.#now.status.waits.find((one: Wait) => one.askId === askId);
    if (wait?.kind === "limit") this.#answerLimit(wait, answer);
    else if (wait) {
      const said = { kind: "permission", state: "answered", askId: wait.askId, callId: wait.callId } as const;
      const turn = this.#now.status.turnId ?? turnId("");
      this.#seal(
        {
          role: "system",
          type: "system",
          data: {
            ...said,
            verdict: answer.verdict ?? "once",
            ...(answer.text === undefined ? {} : { reason: answer.text }),
            ...(answer.rules === undefined ? {} : { rules: [...answer.rules] }),
            by: "me",
          },
        },
        { turn },
      );
    }
    this.#change({ status: { ...this.#now.status, state: "running", waits: [] } });
    return null;
  }
  #answerLimit(wait: Wait, { choice = "stop", raiseTo }: Parameters<TabHandle["answer"]>[1]): void {
    const said = { kind: "limit", state: "answered", askId: wait.askId, limit: "tab-money", choice, by: "me" } as const;
    const data = raiseTo === undefined ? said : { ...said, raiseTo };
    this.#seal({ role: "system", type: "system", data }, { turn: this.#now.status.turnId ?? turnId("") });
  }
  pageOlder = async () => {
    const { window } = this.#now;
    if (window.lo <= 1) return;
    this.#change({ window: { ...window, paging: "older" } });
    this.#clock.setTimer(30, () => {
      const lo = Math.max(1, window.lo - PAGE_ROWS);
      this.#change({ rows: this.#log.slice(lo - 1), window: { ...this.#now.window, lo, paging: null } });
    });
  };
  pageNewer = async () => undefined;
  toEnd = async () => undefined;
  focus = () => undefined;
  seen = () => undefined;
  close = () => undefined;

  #change(part: Partial<TabSnapshot>): void {
    this.#now = { ...this.#now, ...part };
    for (const listener of this.#listeners) listener();
  }
  /** The call ends, and what waited for it as a steer joins. */
  #endCall(callId: string, data: { readonly result: string; readonly isError: boolean; readonly details: JsonObject }) {
    const { calls, ...status } = this.#now.status;
    const call = calls?.find((one) => one.callId === callId);
    if (call === undefined) return null;
    const turn = this.#now.status.turnId ?? turnId("");
    const left = calls?.filter((one) => one !== call) ?? [];
    this.#change({
      status: left.length === 0 ? status : { ...status, calls: left },
      open: this.#now.open.filter((one) => one.callId !== callId),
    });
    this.#seal({ role: "tool", type: "tool_result", data: { callId, name: call.name, ...data } }, { turn });
    if (left.length > 0) return null;
    for (const { id, state, delivery, data } of this.#now.queue) {
      if (state !== "queued" || delivery !== "steer") continue;
      this.#change({ queue: this.#now.queue.filter((one) => one.id !== id) });
      this.#seal({ role: "user", type: "text", data }, { id, turn });
    }
    return null;
  }
  async #patch(id: string, part: Partial<QueuedMessage>) {
    this.#change({ queue: this.#now.queue.map((one) => (one.id === id ? { ...one, ...part } : one)) });
    return null;
  }
  #seal(
    what:
      | Pick<Extract<LogChunk, { type: "text" }>, "role" | "type" | "data">
      | Pick<Extract<LogChunk, { type: "tool_result" }>, "role" | "type" | "data">
      | Pick<Extract<LogChunk, { type: "system" }>, "role" | "type" | "data">,
    place: { readonly id?: LogChunk["id"]; readonly turn: LogChunk["turnId"] },
  ): void {
    const seq = this.#log.length + 1;
    const base = {
      id: place.id ?? chunkId(`s-${this.#next++}`),
      seq,
      term: 1,
      tabId: this.tabId,
      turnId: place.turn,
      step: 0,
    };
    const row: LogChunk = { ...base, createdAt: this.#clock.now(), ...what };
    this.#log.push(row);
    const lo = Math.max(1, this.#now.window.lo);
    this.#change({ rows: this.#log.slice(lo - 1), window: { ...this.#now.window, lo, hi: seq, tail: seq } });
  }
  #stream(turn: LogChunk["turnId"], length: number): void {
    const id = chunkId(`answer-${turn}`);
    if (this.#now.status.state !== "running") return;
    if (length >= ANSWER.length) {
      this.#change({ open: [], status: { ...this.#now.status, state: "idle", turnId: null, lastSealed: turn } });
      this.#seal({ role: "assistant", type: "text", data: { text: ANSWER } }, { id, turn });
      return;
    }
    const base = {
      id,
      turnId: turn,
      step: 0,
      index: 0,
      role: "assistant",
      type: "text",
      at: this.#clock.now(),
    } as const;
    this.#change({ open: [{ ...base, text: ANSWER.slice(0, length) }] });
    this.#clock.setTimer(40, () => this.#stream(turn, length + 9));
  }
}
