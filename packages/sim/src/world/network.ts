/**
 * Wires between pages and the server. Each direction of a connection is in order and loses nothing, as TCP is, until it breaks:
 * cut, with both ends told at times of their own, or half open, when one direction falls silent and nobody is told. Bytes that a
 * slow reader has not taken count as buffered on the server's side.
 */
import type { ClientPorts, ClientSocket } from "@varve/client";
import type { DoorSocket } from "@varve/server/parts";
import type { Prng } from "../prng.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";

const wireScale = 8;
/** A slow reader's bytes count this often: its runs are short, and what is to be seen is the rule at the limit. */
const slowFactor = 3_000;

type Handlers = Parameters<ClientPorts["connect"]>[0];

/** The server's end of a connection. */
export interface Door {
  received(text: string): Promise<void>;
  drained(): void;
  closed(): void;
}
/** Null: nobody listens. */
export type Accept = (socket: DoorSocket) => { readonly door: Door; readonly life: Lifetime } | null;

export interface NetPorts {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly accept: Accept;
  /** Each frame as it leaves the server. */
  readonly sent: (text: string) => void;
}

export class Network {
  readonly ports: NetPorts;
  readonly links = new Set<Link>();

  constructor(ports: NetPorts) {
    this.ports = ports;
  }

  connect(page: Lifetime, handlers: Handlers): ClientSocket {
    const link = new Link(this, page, handlers);
    this.links.add(link);
    return link.socket;
  }

  /** The machine of the server died: most clients are told by its system, some hear nothing. */
  serverDied(): void {
    for (const link of this.links) link.lostServer(this.ports.prng.chance(0.2));
  }

  heal(): void {
    for (const link of this.links) link.slowUntil = 0;
  }
}

/** One direction: what was sent later never arrives earlier. */
interface Lane {
  dueAt: number;
  silent: boolean;
}

export class Link {
  readonly page: Lifetime;
  readonly socket: ClientSocket;
  slowUntil = 0;
  readonly #net: Network;
  readonly #handlers: Handlers;
  readonly #up: Lane = { dueAt: 0, silent: false };
  readonly #down: Lane = { dueAt: 0, silent: false };
  #server: { readonly door: Door; readonly life: Lifetime } | null = null;
  /** The client has closed it, or was told that it is closed. */
  #clientDone = false;
  #serverDone = false;
  #buffered = 0;
  #lastFrame = "";

  constructor(net: Network, page: Lifetime, handlers: Handlers) {
    this.#net = net;
    this.page = page;
    this.#handlers = handlers;
    this.socket = { send: (text) => this.#send(text), close: () => this.#hangUp() };
    const { queue, latency } = net.ports;
    queue.after(latency.draw(wireScale), { kind: "net-open", life: page }, () => this.#arrive());
  }

  get open(): boolean {
    return this.#server !== null && !this.#clientDone && !this.#serverDone;
  }

  // --- faults ------------------------------------------------------------------------------------------------------

  cut(): void {
    this.#silence("both");
    this.#tellClient(1006, "broken");
    this.#tellServer("broken");
  }
  halfOpen(direction: "up" | "down"): void {
    this.#silence(direction);
  }
  /** The newest frame that arrived comes once more. */
  again(): void {
    const text = this.#lastFrame;
    const { queue, latency } = this.#net.ports;
    if (text === "" || text.startsWith('{"type":"hello"')) return;
    queue.after(latency.draw(wireScale), { kind: "net-again", life: this.page }, () => this.#handlers.frame(text));
  }
  lostServer(unseen: boolean): void {
    this.#silence("both");
    this.#serverDone = true;
    if (!unseen) this.#tellClient(1006, "broken");
    else if (this.#clientDone) this.#net.links.delete(this);
  }

  #silence(direction: "up" | "down" | "both"): void {
    if (direction !== "down") this.#up.silent = true;
    if (direction !== "up") this.#down.silent = true;
  }

  // --- the client's end --------------------------------------------------------------------------------------------

  #arrive(): void {
    const { latency, accept } = this.#net.ports;
    if (this.#clientDone) return;
    const server = this.#up.silent ? null : accept(this.#serverSocket());
    if (server === null) {
      if (!this.#up.silent) this.#tellClient(1006);
      return;
    }
    this.#server = server;
    this.#serverDone = false;
    this.#deliver(this.#down, { kind: "net-opened", life: this.page, delayMs: latency.draw(wireScale) }, () => {
      if (!this.#clientDone) this.#handlers.opened();
    });
  }

  #send(text: string): void {
    const server = this.#server;
    if (server === null) return;
    const { latency } = this.#net.ports;
    const what = { kind: "net-up", life: server.life, delayMs: latency.draw(wireScale) };
    this.#deliver(this.#up, what, () => {
      if (!this.#serverDone) void server.door.received(text);
    });
  }

  #hangUp(): void {
    if (this.#clientDone) return;
    this.#clientDone = true;
    // What is on its way arrives at a socket that nobody listens to any more; the client must not mind if it does.
    if (!this.#net.ports.prng.chance(0.3)) this.#down.silent = true;
    this.#tellServer();
  }

  // --- the server's end --------------------------------------------------------------------------------------------

  #serverSocket(): DoorSocket {
    return {
      send: (text) => this.#frame(text),
      buffered: () => this.#buffered * (this.#net.ports.queue.now < this.slowUntil ? slowFactor : 1),
      close: (code) => {
        if (this.#serverDone) return;
        this.#serverDone = true;
        this.#tellClient(code);
      },
    };
  }

  #frame(text: string): void {
    const { queue, latency, sent } = this.#net.ports;
    if (this.#serverDone && !text.startsWith('{"type":"bye"')) return;
    sent(text);
    this.#buffered += text.length;
    const slow = Math.max(0, this.slowUntil - queue.now);
    const what = { kind: "net-down", life: this.page, delayMs: slow + latency.draw(wireScale) };
    this.#deliver(this.#down, what, () => {
      this.#lastFrame = text;
      this.#handlers.frame(text);
    });
    // The server's own system takes the bytes, whatever becomes of them further on.
    const server = this.#server;
    if (server === null) return;
    queue.after(what.delayMs, { kind: "net-drain", life: server.life }, () => {
      this.#buffered -= text.length;
      if (!this.#serverDone) server.door.drained();
    });
  }

  // --- both --------------------------------------------------------------------------------------------------------

  #deliver(
    lane: Lane,
    what: { readonly kind: string; readonly life: Lifetime; readonly delayMs: number },
    run: () => void,
  ): void {
    const { queue } = this.#net.ports;
    // Behind all that was sent before, by a hair: one moment's events may happen in any order.
    lane.dueAt = Math.max(lane.dueAt + 0.001, queue.now + what.delayMs);
    queue.after(lane.dueAt - queue.now, what, () => {
      if (!lane.silent) run();
    });
  }

  /** In the stream, behind what was sent and lost with it; or because the connection itself is broken. */
  #tellClient(code: number, how: "in the stream" | "broken" = "in the stream"): void {
    const { queue, latency } = this.#net.ports;
    const at = Math.max(this.#down.dueAt, queue.now) + 0.001 + latency.draw(wireScale);
    queue.after(at - queue.now, { kind: "net-closed", life: this.page }, () => {
      this.#net.links.delete(this);
      if (this.#clientDone || (this.#down.silent && how !== "broken")) return;
      this.#clientDone = true;
      this.#handlers.closed(code);
    });
  }

  #tellServer(how: "in the stream" | "broken" = "in the stream"): void {
    const server = this.#server;
    if (server === null) {
      this.#net.links.delete(this);
      return;
    }
    const { queue, latency } = this.#net.ports;
    const at = Math.max(this.#up.dueAt, queue.now) + 0.001 + latency.draw(wireScale);
    queue.after(at - queue.now, { kind: "net-left", life: server.life }, () => {
      if (this.#serverDone || (this.#up.silent && how !== "broken")) return;
      this.#serverDone = true;
      server.door.closed();
    });
  }
}
