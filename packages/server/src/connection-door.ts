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
  isFault,
  limits,
  protocolVersion,
  protocolVersions,
  type QueuedMessage,
  type TabId,
  type Timer,
  unreachable,
} from "@varve/protocol";
import { commandSchema } from "@varve/protocol/schema";
import type { Devices } from "./auth/devices.ts";
import { nameOf, proveHello, type Visitor } from "./auth/gate.ts";
import type { FrameSink, QueueFault, Subscription, Workspace } from "./workspace/workspace-contract.ts";

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
  readonly clock: Clock;
  readonly build: string;
  readonly boot: string;
}

type Ack = Extract<Frame, { type: "ack" }>;

export class ConnectionDoor {
  readonly #ports: DoorPorts;
  readonly #socket: DoorSocket;
  readonly #sink: FrameSink;
  readonly #subscriptions = new Map<TabId, Subscription>();
  /** Grows with each `sub` of a tab: the answer of an older one is thrown away. */
  readonly #asked = new Map<TabId, number>();
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

  isOf(deviceId: string): boolean {
    return "device" in this.#visitor && this.#visitor.device.id === deviceId;
  }

  /** A text message came. Never throws. */
  async received(text: string): Promise<void> {
    if (this.#closed) return;
    this.#heardAt = this.#ports.clock.now();
    const command = parseCommand(text);
    if (command.ok) {
      if (!this.#greeted && command.value.type !== "hello") return this.end(closeCodes.protocol, "hello first");
      await this.#act(command.value);
    } else this.#refuse(command.re, command.error);
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
        return this.#subscribe(command);
      case "sub-workspace":
        this.#endWorkspace?.();
        this.#endWorkspace = workspace.subscribeWorkspace(command.re, this.#sink);
        return;
      case "unsub":
        this.#asked.set(command.tab, (this.#asked.get(command.tab) ?? 0) + 1);
        this.#subscriptions.get(command.tab)?.close();
        this.#subscriptions.delete(command.tab);
        return;
      case "focus":
        this.#subscriptions.get(command.tab)?.focus(command.focus);
        return;
      case "seen":
        return workspace.seen(command.tab, command.seq);
      case "pong":
        return;
      default:
        return this.#change(command);
    }
  }

  /** Commands that change something: each is answered by an `ack` or an `err`. */
  async #change(
    command: Exclude<Command, { type: "hello" | "sub" | "sub-workspace" | "unsub" | "focus" | "seen" | "pong" }>,
  ): Promise<void> {
    const { workspace } = this.#ports;
    const { re, tab } = command;
    switch (command.type) {
      case "send": {
        const { id, text, delivery, turnId, attachments } = command;
        const message = {
          id,
          text,
          ...(delivery && { delivery }),
          ...(turnId && { turnId }),
          ...(attachments && { attachments }),
        };
        return this.#answer(re, await workspace.send(tab, message, this.#by()));
      }
      case "edit":
        return this.#patched(
          re,
          await workspace.patchQueued(tab, command.id, {
            version: command.version,
            text: command.text,
            ...(command.delivery && { delivery: command.delivery }),
          }),
        );
      case "hold":
        return this.#patched(
          re,
          await workspace.patchQueued(tab, command.id, { version: command.version, state: "held" }),
        );
      case "release":
        return this.#patched(
          re,
          await workspace.patchQueued(tab, command.id, { version: command.version, state: "queued" }),
        );
      case "move":
        return this.#patched(
          re,
          await workspace.patchQueued(tab, command.id, { version: command.version, before: command.before }),
        );
      case "cancel":
        return this.#answer(re, await workspace.cancelQueued(tab, command.id));
      case "stop": {
        const { turnId, callId } = command;
        const stopped = await workspace.stop(tab, {
          ...(turnId !== undefined && { turnId }),
          ...(callId !== undefined && { callId }),
        });
        return this.#answer(re, isFault(stopped) ? stopped : { state: "done" });
      }
      case "answer": {
        const { askId, verdict, text } = command;
        const problem = await workspace.answer(
          tab,
          { askId, ...(verdict && { verdict }), ...(text !== undefined && { text }) },
          this.#by(),
        );
        return this.#answer(re, problem ?? { state: "done" });
      }
      default:
        return unreachable(command);
    }
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
    this.#client = command.client.slice(0, 64);
    const first = !this.#greeted;
    this.#greeted = true;
    const { build, boot } = this.#ports;
    this.#send({ type: "hello", v: version, build, boot, me: { client: this.#client } });
    if (first) this.#beat();
  }

  async #subscribe(command: Extract<Command, { type: "sub" }>): Promise<void> {
    const { tab } = command;
    const known = this.#subscriptions.get(tab);
    if (known === undefined && this.#subscriptions.size >= limits.subscriptionsMax) {
      return this.#refuse(command.re, {
        code: "bad-request",
        message: `A connection follows at most ${limits.subscriptionsMax} tabs.`,
        hint: "Leave one first.",
      });
    }
    known?.close();
    this.#subscriptions.delete(tab);
    const turn = (this.#asked.get(tab) ?? 0) + 1;
    this.#asked.set(tab, turn);
    const subscription = await this.#ports.workspace.subscribe(command, this.#sink);
    if (isFault(subscription)) return this.#refuse(command.re, subscription);
    if (this.#closed || this.#asked.get(tab) !== turn) return subscription.close();
    this.#subscriptions.set(tab, subscription);
  }

  #by(): string {
    return this.#client === "" ? nameOf(this.#visitor) : this.#client;
  }

  #patched(re: number, outcome: QueuedMessage | QueueFault): void {
    if (isFault(outcome)) this.#refuse(re, outcome, "current" in outcome ? outcome.current : undefined);
    else this.#answer(re, { id: outcome.id, state: outcome.state, version: outcome.version });
  }

  #answer(re: number, outcome: Omit<Ack, "type" | "re"> | Fault): void {
    if (isFault(outcome)) this.#refuse(re, outcome);
    else this.#send({ type: "ack", re, ...outcome });
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
    if (!this.#closed) this.#socket.send(JSON.stringify(frame));
  }

  /** A data frame every interval: browsers hide the protocol's own pings from their pages. */
  #beat(): void {
    this.#timer.cancel();
    if (this.#ports.clock.now() - this.#heardAt > limits.silenceMaxMs) {
      this.#silent();
      return;
    }
    this.#send({ type: "ping", ts: this.#ports.clock.now() });
    this.#timer = this.#ports.clock.setTimer(limits.pingIntervalMs, () => this.#beat());
  }

  #silent(): void {
    this.end(closeCodes.silent, "silent");
  }
}

type Parsed =
  | { readonly ok: true; readonly value: Command }
  | { readonly ok: false; readonly re: number | undefined; readonly error: ErrorBody };

function parseCommand(text: string): Parsed {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The text came from outside; what is wrong with it is told, and the connection goes on.
    return { ok: false, re: undefined, error: { code: "bad-json", message: "A command must be one JSON text." } };
  }
  const parsed = commandSchema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  const where = issue?.path.join(".") || "command";
  return {
    ok: false,
    re: reOf(json),
    error: { code: "bad-request", message: `${where}: ${issue?.message ?? "not valid"}.` },
  };
}

function reOf(json: unknown): number | undefined {
  if (typeof json !== "object" || json === null || !("re" in json)) return undefined;
  return typeof json.re === "number" ? json.re : undefined;
}
