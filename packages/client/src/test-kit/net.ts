/**
 * Clients on wires to one owner, for tests. Nothing moves by itself: each frame, command and page is carried when the test
 * says so, may be cut off with its connection, and may be carried twice.
 */
import { type Clock, type Command, type Frame, idMaker, parseChunkId, type Timer } from "@varve/protocol";
import type { ClientPorts, OutboxStore, StoredOutboxEntry, SyncClient, TabHandle } from "../client.ts";
import { createSyncClient } from "../sync-client.ts";
import { type Owner, theTab } from "./owner.ts";

/** Time that stands still until a test moves it; timers run at once when it does. */
export class StillClock implements Clock {
  time = 1_000_000;
  readonly #timers = new Set<{ readonly due: number; readonly fire: () => void }>();
  now(): number {
    return this.time;
  }
  setTimer(ms: number, fire: () => void): Timer {
    const timer = { due: this.time + ms, fire };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }
  get waiting(): number {
    return this.#timers.size;
  }
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.time = Math.max(this.time, due.due);
      due.fire();
    }
    this.time = end;
  }
}

/** A store that a test can look into. */
export function watchedStore(): OutboxStore & { readonly entries: Map<string, StoredOutboxEntry> } {
  const entries = new Map<string, StoredOutboxEntry>();
  return {
    entries,
    load: async () => [...entries.values()],
    put: async (entry) => void entries.set(entry.id, entry),
    remove: async (id) => void entries.delete(id),
  };
}

type Handlers = Parameters<ClientPorts["connect"]>[0];
interface Wire {
  readonly handlers: Handlers;
  readonly toClient: Frame[];
  readonly toServer: Command[];
  /** Carried frames, to carry one again. */
  readonly carried: Frame[];
  open: boolean;
}
interface AskedPage {
  readonly path: string;
  readonly answer: (body: unknown) => void;
  /** What the server has said; on its way from then on, whatever happens there. */
  body?: unknown;
}

export class Peer {
  readonly name: string;
  readonly clock: StillClock;
  readonly store = watchedStore();
  readonly client: SyncClient;
  readonly handle: TabHandle;
  readonly pages: AskedPage[] = [];
  readonly owner: Owner;
  readonly commands: Command[] = [];
  wire: Wire | undefined;
  #dead: Wire | undefined;
  reachable = true;
  /** Another act than the model's on a command; true when it is dealt with. */
  intercept: (command: Command, reply: (frame: Frame) => void) => boolean = () => false;

  constructor(
    name: string,
    owner: Owner,
    options: { readonly store?: ReturnType<typeof watchedStore>; readonly build?: string } = {},
  ) {
    this.name = name;
    this.owner = owner;
    this.clock = new StillClock();
    if (options.store !== undefined) this.store = options.store;
    let made = 0;
    const ids = idMaker(() => `${name}-${++made}`);
    this.client = createSyncClient({
      connect: (handlers) => this.#connect(handlers),
      rest: ({ path }) => this.#rest(path),
      clock: this.clock,
      newId: () => ids.chunk(),
      random: () => 0.5,
      outbox: this.store,
      identity: { client: name, key: "key", ...(options.build === undefined ? {} : { build: options.build }) },
    });
    this.handle = this.client.open(theTab);
  }

  // --- moving things -----------------------------------------------------------------------------------------------

  /** The socket opens. */
  accept(): void {
    const wire = this.wire;
    if (wire === undefined || wire.open) return;
    wire.open = true;
    wire.handlers.opened();
  }
  carryCommand(): void {
    const wire = this.wire;
    const command = wire?.toServer.shift();
    if (wire !== undefined && command !== undefined) this.#serve(wire, command);
  }
  carryFrame(): void {
    const frame = this.wire?.toClient.shift();
    if (frame === undefined || this.wire === undefined) return;
    this.wire.carried.push(frame);
    this.wire.handlers.frame(JSON.stringify(frame));
  }
  /** The next frame is lost although the connection lives, as a faulty link would do it. Only ops can be missed so. */
  loseFrame(): void {
    const at = this.wire?.toClient.findIndex((frame) => frame.type === "ops") ?? -1;
    if (at >= 0) this.wire?.toClient.splice(at, 1);
  }
  /** The next two frames change places, as they may where a proxy joins several connections. Heads stay behind acks. */
  swapFrames(): void {
    const frames = this.wire?.toClient ?? [];
    const [first, second] = frames;
    if (first?.type !== "ops" || second?.type !== "ops") return;
    frames.splice(0, 2, second, first);
  }
  /** One of the frames of this connection comes again. */
  carryAgain(which: number): void {
    const { carried = [] } = this.wire ?? {};
    const frame = carried[which % Math.max(1, carried.length)];
    if (frame !== undefined && frame.type !== "hello") this.wire?.handlers.frame(JSON.stringify(frame));
  }
  /** The server makes the answer of the oldest request that it has not answered yet. */
  servePage(): void {
    const asked = this.pages.find((page) => page.body === undefined);
    if (asked !== undefined) asked.body = this.#bodyOf(asked.path);
  }
  answerPage(): void {
    const asked = this.pages.shift();
    asked?.answer(asked.body ?? this.#bodyOf(asked.path));
  }
  #bodyOf(path: string): unknown {
    const [, message] = /\/queue\/([^/?]+)$/.exec(path) ?? [];
    if (message !== undefined) return this.owner.fateBody(message);
    return path.includes("/head?") ? this.owner.headBody(path) : this.owner.page(queryOf(path));
  }
  /** The connection breaks: what was under way is gone, unless the network brings it after all (`carryLate`). */
  cut(code = 1006): void {
    const wire = this.wire;
    if (wire === undefined) return;
    this.wire = undefined;
    this.owner.detach(wire);
    wire.handlers.closed(code);
    this.#dead = wire;
  }
  /** Something of the connection before this one arrives. */
  carryLate(): void {
    const frame = this.#dead?.toClient.shift();
    if (frame !== undefined) this.#dead?.handlers.frame(JSON.stringify(frame));
  }
  /** Carries everything until nothing is left to carry. */
  async settle(): Promise<void> {
    for (let round = 0; round < 1000; round++) {
      if (this.wire === undefined || !this.wire.open) this.clock.advance(20_000);
      this.accept();
      while ((this.wire?.toServer.length ?? 0) > 0) this.carryCommand();
      while ((this.wire?.toClient.length ?? 0) > 0) this.carryFrame();
      while (this.pages.length > 0) this.answerPage();
      await turns();
      const wire = this.wire;
      const busy =
        wire === undefined || !wire.open || wire.toServer.length + wire.toClient.length + this.pages.length > 0;
      if (!busy) return;
    }
    throw new Error("the client never comes to rest");
  }

  // --- the server's side -------------------------------------------------------------------------------------------

  #connect(handlers: Handlers): { send(text: string): void; close(): void } {
    const wire: Wire = { handlers, toClient: [], toServer: [], carried: [], open: false };
    this.wire = wire;
    return {
      send: (text) => {
        const command: Command = JSON.parse(text);
        this.commands.push(command);
        wire.toServer.push(command);
      },
      close: () => {
        this.owner.detach(wire);
        if (this.wire === wire) this.wire = undefined;
      },
    };
  }
  async #rest(path: string): ReturnType<ClientPorts["rest"]> {
    if (!this.reachable) return { ok: false, error: { code: "log-unavailable", message: "unreachable" } };
    const body = await new Promise<unknown>((answer) => this.pages.push({ path, answer }));
    if (body === null) return { ok: false, error: { code: "unknown-message", message: "never taken" } };
    return { ok: true, body: JSON.parse(JSON.stringify(body)) };
  }
  #serve(wire: Wire, command: Command): void {
    const reply = (frame: Frame): void => void wire.toClient.push(frame);
    if (this.intercept(command, reply)) return;
    if (command.type === "sub") {
      this.owner.detach(wire);
      reply(this.owner.head(command));
      this.owner.attach(wire, reply);
    } else if (command.type === "unsub") {
      this.owner.detach(wire);
    } else {
      const answer = this.#answer(command);
      if (answer !== null) reply(answer);
    }
  }
  #answer(command: Exclude<Command, { type: "sub" | "unsub" }>): Frame | null {
    switch (command.type) {
      case "hello":
        return { type: "hello", v: 1, build: "build-1", boot: "boot", me: { client: this.name } };
      case "send": {
        const ack = this.owner.send(command.id, command.text);
        return ack.type === "ack" ? { ...ack, re: command.re } : ack;
      }
      case "edit":
        this.owner.edit(command.id, command.text);
        return { type: "ack", re: command.re, id: command.id, state: "queued" };
      case "cancel": {
        this.owner.cancel(command.id);
        const state = this.owner.inbox.get(command.id) ?? "dropped";
        return { type: "ack", re: command.re, id: command.id, state };
      }
      case "sub-workspace":
        return { type: "workspace", re: command.re, boot: "boot", n: 1, full: true, tabs: [], purged: [] };
      case "hold":
      case "release":
      case "move":
      case "stop":
      case "background":
      case "answer":
        return { type: "ack", re: command.re, state: "done" };
      case "focus":
      case "seen":
      case "pong":
        return null;
    }
  }
}

/** Promise callbacks run; nothing else moves. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve();
}

function queryOf(path: string): { readonly before?: number; readonly after?: number; readonly limit?: number } {
  const query: { before?: number; after?: number; limit?: number } = {};
  for (const [name, value] of new URL(path, "http://host").searchParams) {
    if (name === "before" || name === "after" || name === "limit") query[name] = Number(value);
  }
  return query;
}

export const messageId = (name: string, n: number) => {
  const id = parseChunkId(`${name}-${n}`);
  if (id === null) throw new Error("a test uses legal ids");
  return id;
};
