/**
 * One client connection: frames out, commands in. Transport-free: the socket is a few functions, so tests need none. The
 * first command is `hello`; everything else before it closes the connection.
 */
import {
  type Clock,
  type Command,
  type ErrorBody,
  type Fault,
  type Frame,
  fault,
  isFault,
  limits,
  parseClientId,
  protocolVersion,
  protocolVersions,
  type QueuedMessage,
  type TabId,
  type Timer,
} from "@varve/protocol";
import type { ApiTokens } from "./auth/api-tokens.ts";
import type { Devices } from "./auth/devices.ts";
import { holderOf, nameOf, proveHello, stillHolds, type Visitor } from "./auth/gate.ts";
import { type Change, carryOut } from "./carry-out.ts";
import { parseCommand } from "./command-text.ts";
import { frameText } from "./frame-text.ts";
import type { FrameSink, Subscription, Workspace } from "./workspace/workspace-contract.ts";

/** A connection that has not said hello by then is closed. */
const helloMs = 10_000;

export const closeCodes = {
  unauthorized: 4401,
  version: 4426,
  protocol: 4400,
  silent: 4408,
  /** Slow, or the server goes: try again. */
  later: 1013,
} as const;

export interface DoorSocket {
  send(text: string): void;
  buffered(): number;
  close(code: number, reason: string): void;
}

export interface DoorPorts {
  readonly workspace: Workspace;
  readonly devices: Devices;
  /** None: nobody comes with a named token. */
  readonly tokens?: ApiTokens;
  readonly clock: Clock;
  readonly build: string;
  readonly boot: string;
  /** A promise of ours was broken; for the server's log. */
  readonly broke: (error: unknown) => void;
}

export class ConnectionDoor {
  readonly #ports: DoorPorts;
  readonly #socket: DoorSocket;
  readonly #sink: FrameSink;
  readonly #subscriptions = new Map<TabId, Subscription>();
  /** Commands of one tab are carried out in the order in which they came. */
  readonly #lanes = new Map<TabId, Promise<void>>();
  /** The newest `sub` of a tab that is not answered yet: what comes of an older one is thrown away. */
  readonly #asked = new Map<TabId, object>();
  #visitor: Visitor;
  #client = "";
  #greeted = false;
  #closed = false;
  #heardAt: number;
  #endWorkspace: (() => void) | null = null;
  #timer: Timer;

  constructor(socket: DoorSocket, visitor: Visitor, ports: DoorPorts) {
    this.#socket = socket;
    this.#visitor = visitor;
    this.#ports = ports;
    this.#heardAt = ports.clock.now();
    this.#sink = {
      send: (frame) => this.#send(frame),
      buffered: () => socket.buffered(),
      closeSlow: () => this.end(closeCodes.later, "slow"),
    };
    this.#timer = ports.clock.setTimer(helloMs, () => this.#silent());
  }

  /** Whether it came in by this device or named token. */
  isOf(holder: string): boolean {
    return holderOf(this.#visitor) === holder;
  }

  /** A text message came; resolves once it is dealt with. Never throws. */
  async received(text: string): Promise<void> {
    if (this.#closed) return;
    this.#heardAt = this.#ports.clock.now();
    const command = parseCommand(text);
    if (!command.ok) return this.#refuse(command.re, command.error);
    if (!this.#greeted && command.value.type !== "hello") return this.end(closeCodes.protocol, "hello first");
    if (!this.#stillIn()) return;
    try {
      await this.#act(command.value);
    } catch (error) {
      this.#ports.broke(error);
      const re = "re" in command.value ? command.value.re : undefined;
      this.#refuse(re, { code: "internal", message: "Something broke inside Varve.", hint: "Try again." });
    }
  }

  /** The transport has taken what waited. */
  drained(): void {
    for (const subscription of this.#subscriptions.values()) subscription.drained();
  }

  /** Ends the connection from our side. */
  end(code: number, reason: string): void {
    if (this.#closed) return;
    this.#send({ type: "bye", code: reason, retryMs: code === closeCodes.later ? 1_000 : 0 });
    this.#socket.close(code, reason);
    this.closed();
  }

  /** The transport is gone. Idempotent. */
  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer.cancel();
    for (const subscription of this.#subscriptions.values()) subscription.close();
    this.#subscriptions.clear();
    this.#endWorkspace?.();
  }

  async #act(command: Command): Promise<void> {
    const { workspace } = this.#ports;
    switch (command.type) {
      case "hello":
        return this.#hello(command);
      case "sub":
        this.#asked.set(command.tab, command);
        return this.#inOrder(command.tab, () => this.#subscribe(command));
      case "sub-workspace":
        this.#endWorkspace?.();
        this.#endWorkspace = workspace.subscribeWorkspace(command.re, this.#sink);
        return;
      case "unsub":
        this.#asked.delete(command.tab);
        this.#subscriptions.get(command.tab)?.close();
        this.#subscriptions.delete(command.tab);
        return;
      case "focus":
        // Behind a subscription that is still being made, so that the last word holds.
        return this.#inOrder(command.tab, async () => this.#subscriptions.get(command.tab)?.focus(command.focus));
      case "seen":
        return workspace.seen(command.tab, command.seq);
      case "pong":
        return;
      default:
        return this.#inOrder(command.tab, () => this.#change(command));
    }
  }

  #inOrder(tab: TabId, act: () => Promise<void>): Promise<void> {
    // What went wrong with the command before is told to whoever sent that one.
    const done = (this.#lanes.get(tab) ?? Promise.resolve()).then(act, act).finally(() => {
      if (this.#lanes.get(tab) === done) this.#lanes.delete(tab);
    });
    this.#lanes.set(tab, done);
    return done;
  }

  /** Answered by an `ack` or an `err`, behind the ops that it speaks of. */
  async #change(command: Change): Promise<void> {
    // It may have waited behind another one: whoever was signed out meanwhile changes nothing any more.
    if (!this.#stillIn()) return;
    const outcome = await carryOut(this.#ports.workspace, command, this.#client);
    this.#subscriptions.get(command.tab)?.flush();
    if (isFault(outcome)) this.#refuse(command.re, outcome, outcome.current);
    else this.#send({ type: "ack", re: command.re, ...outcome });
  }

  #hello(command: Extract<Command, { type: "hello" }>): void {
    const version = Math.max(...command.v.filter((v) => protocolVersions.includes(v)), 0);
    if (version === 0) {
      this.#refuse(undefined, {
        code: "version-unsupported",
        message: `This server speaks protocol ${protocolVersion}, the client offers ${command.v.join(", ") || "none"}.`,
        hint: "Reload the page; what was typed is kept.",
      });
      this.end(closeCodes.version, "version-unsupported");
      return;
    }
    const proven = proveHello(this.#visitor, command.key, this.#ports.devices);
    if (isFault(proven)) {
      this.#refuse(undefined, proven);
      this.end(closeCodes.unauthorized, proven.code);
      return;
    }
    this.#visitor = proven;
    // What a program sent is told by its token's name, not by one that it gives itself.
    const own = proven.kind === "program" ? null : parseClientId(command.client);
    this.#client = own ?? nameOf(proven);
    const first = !this.#greeted;
    this.#greeted = true;
    const { build, boot } = this.#ports;
    this.#send({ type: "hello", v: version, build, boot, me: { client: this.#client } });
    if (first) this.#beat();
  }

  async #subscribe(command: Extract<Command, { type: "sub" }>): Promise<void> {
    const { tab } = command;
    if (this.#asked.get(tab) !== command) return;
    this.#subscriptions.get(tab)?.close();
    this.#subscriptions.delete(tab);
    const full = this.#subscriptions.size >= limits.subscriptionsMax;
    const outcome = full ? tooMany() : await this.#ports.workspace.subscribe(command, this.#sink);
    const current = !this.#closed && this.#asked.get(tab) === command;
    if (current) this.#asked.delete(tab);
    if (isFault(outcome)) this.#refuse(command.re, outcome);
    else if (current) this.#subscriptions.set(tab, outcome);
    else outcome.close();
  }

  #refuse(re: number | undefined, error: ErrorBody, current?: QueuedMessage): void {
    const { code, message, hint } = error;
    this.#send({
      type: "err",
      ...(re !== undefined && { re }),
      code,
      message,
      ...(hint !== undefined && { hint }),
      ...(current !== undefined && { current }),
    });
  }

  #send(frame: Frame): void {
    if (!this.#closed) this.#socket.send(frameText(frame));
  }

  /** Ends the connection of whoever's time has run out. */
  #stillIn(): boolean {
    const stays = stillHolds(this.#visitor, this.#ports);
    if (!stays) this.end(closeCodes.unauthorized, "unauthorized");
    return stays;
  }

  /** A data frame every interval: browsers hide the protocol's own pings from their pages. */
  #beat(): void {
    this.#timer.cancel();
    const { clock } = this.#ports;
    // A clock that was set back must not make a dead connection live as long as it went back: silence counts from here on.
    this.#heardAt = Math.min(this.#heardAt, clock.now());
    const left = limits.silenceMaxMs - (clock.now() - this.#heardAt);
    if (left <= 0) {
      this.#silent();
      return;
    }
    if (!this.#stillIn()) return;
    this.#send({ type: "ping", ts: clock.now() });
    this.#timer = clock.setTimer(Math.min(limits.pingIntervalMs, left), () => this.#beat());
  }

  #silent(): void {
    this.end(closeCodes.silent, "silent");
  }
}

const tooMany = (): Fault =>
  fault("bad-request", `A connection follows at most ${limits.subscriptionsMax} tabs.`, "Leave one first.");
