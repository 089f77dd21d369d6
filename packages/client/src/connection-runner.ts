/**
 * Runs the connection machine over a socket and a clock. Frames and closings of any older socket are ignored from the
 * moment at which it is given up, whatever the adapter does.
 */
import {
  type ByeFrame,
  type Command,
  type Frame,
  limits,
  protocolVersions,
  type Timer,
  unreachable,
} from "@varve/protocol";
import type { ClientPorts, ClientSocket, ConnectionState } from "./client.ts";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionStep,
  firstConnection,
  stepConnection,
} from "./connection.ts";
import { decodeFrame } from "./decode.ts";

export interface RunnerEvents {
  /** Subscribe to everything again and send the outbox. */
  readonly wentLive: () => void;
  readonly wentDown: () => void;
  /** Only while live, only of the current socket; `hello`, `ping` and `bye` are dealt with here. */
  readonly frame: (frame: Frame) => void;
  readonly changed: () => void;
}

export class ConnectionRunner {
  readonly #ports: ClientPorts;
  readonly #events: RunnerEvents;
  #state: Connection = firstConnection.next;
  #socket: ClientSocket | undefined;
  #generation = 0;
  #silence: Timer | undefined;
  #retry: Timer | undefined;
  #bye: ByeFrame | undefined;

  constructor(ports: ClientPorts, events: RunnerEvents) {
    this.#ports = ports;
    this.#events = events;
  }

  start(): void {
    this.#run(firstConnection);
  }

  state(): ConnectionState {
    const state = this.#state;
    switch (state.kind) {
      case "connecting":
      case "greeting":
        return { ...state, kind: "connecting" };
      case "live":
        return { kind: "live" };
      case "waiting":
      case "refused":
      case "closed":
        return state;
      default:
        return unreachable(state);
    }
  }

  get live(): boolean {
    return this.#state.kind === "live";
  }

  /** False when there is no live connection: nothing was sent. */
  send(command: Command): boolean {
    if (this.#state.kind !== "live" || this.#socket === undefined) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  probe(): void {
    this.#step({ type: "probe" });
  }

  close(): void {
    this.#step({ type: "close" });
  }

  #step(event: ConnectionEvent): void {
    const moment = { now: this.#ports.clock.now(), random: this.#ports.random() };
    this.#run(stepConnection(this.#state, event, moment));
  }

  #run(step: ConnectionStep): void {
    const changed = step.next !== this.#state && (step.next.kind !== "live" || this.#state.kind !== "live");
    this.#state = step.next;
    for (const effect of step.effects) this.#do(effect);
    if (step.next.kind !== "waiting") this.#stopRetry();
    if (step.next.kind === "waiting" || step.next.kind === "refused" || step.next.kind === "closed")
      this.#stopSilence();
    if (changed) this.#events.changed();
  }

  #do(effect: ConnectionEffect): void {
    const acts: Readonly<Record<ConnectionEffect, () => void>> = {
      dial: () => this.#dial(),
      greet: () => this.#greet(),
      "hang-up": () => this.#hangUp(),
      "watch-silence": () => this.#watchSilence(),
      "await-retry": () => this.#awaitRetry(),
      "went-live": this.#events.wentLive,
      "went-down": this.#events.wentDown,
    };
    acts[effect]();
  }

  #dial(): void {
    this.#hangUp();
    const generation = this.#generation;
    const mine = (act: () => void) => (): void => {
      if (generation === this.#generation) act();
    };
    this.#bye = undefined;
    this.#socket = this.#ports.connect({
      opened: mine(() => this.#step({ type: "opened" })),
      frame: (text) => {
        if (generation === this.#generation) this.#hear(text);
      },
      closed: (code) => {
        if (generation !== this.#generation) return;
        this.#generation += 1;
        this.#socket = undefined;
        this.#step({ type: "socket-closed", code, ...goodbye(this.#bye) });
      },
    });
  }

  #greet(): void {
    const { client, build, key } = this.#ports.identity;
    const hello: Command = {
      type: "hello",
      v: [...protocolVersions],
      client,
      ...(build === undefined ? {} : { build }),
      ...(key === undefined ? {} : { key }),
    };
    this.#socket?.send(JSON.stringify(hello));
  }

  #hangUp(): void {
    this.#generation += 1;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #hear(text: string): void {
    const frame = decodeFrame(text);
    if (frame === null) return;
    if (frame.type === "hello") {
      const build = this.#ports.identity.build;
      this.#step({ type: "hello", sameBuild: build === undefined || frame.build === build });
      return;
    }
    this.#step({ type: "heard" });
    if (this.#state.kind !== "live") return;
    if (frame.type === "ping") this.send({ type: "pong", ts: frame.ts });
    else if (frame.type === "bye") this.#bye = frame;
    else this.#events.frame(frame);
  }

  #watchSilence(): void {
    this.#stopSilence();
    this.#silence = this.#ports.clock.setTimer(limits.silenceMaxMs, () => this.#step({ type: "silence" }));
  }

  #stopSilence(): void {
    this.#silence?.cancel();
    this.#silence = undefined;
  }

  #awaitRetry(): void {
    if (this.#state.kind !== "waiting") return;
    const inMs = Math.max(0, this.#state.retryAt - this.#ports.clock.now());
    this.#retry = this.#ports.clock.setTimer(inMs, () => this.#step({ type: "retry-due" }));
  }

  #stopRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }
}

/** Other codes than this one say nothing to a person that the wait does not say. */
const goodbye = (bye: ByeFrame | undefined): Pick<SocketClosed, "retryMs" | "reason"> => ({
  retryMs: bye?.retryMs,
  ...(bye?.code === "shutting-down" && { reason: "shutting-down" }),
});
type SocketClosed = Extract<ConnectionEvent, { readonly type: "socket-closed" }>;
