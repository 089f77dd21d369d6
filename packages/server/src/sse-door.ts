/**
 * The socket's twin for programs: one tab's frames as server-sent events. The same cursor, the same frames, one per `data:`.
 * After a frame that carries rows comes `id: logId:term:seq` with the term of the row at seq, so that a reader resumes with
 * `Last-Event-ID` as a socket does with `sub {have}`.
 */
import { type Clock, type Fault, type Frame, fault, isFault, limits, parseLogId, type TabId } from "@varve/protocol";
import { dataHeaders } from "./answer.ts";
import { frameText } from "./frame-text.ts";
import type { FrameSink, Subscription, Workspace } from "./workspace/workspace-contract.ts";

/** Streams at once; one more is refused. */
const streamsMax = 500;

type Have = Parameters<Workspace["subscribe"]>[0]["have"];

export interface StreamRequest {
  readonly tab: TabId;
  readonly lastEventId: string | null;
  /** The signed-in device or named token that reads; null for a program with the home's token. */
  readonly holder: string | null;
  /** Whether the reader would still be let in. */
  readonly stillHolds: () => boolean;
  /** Ends a connection whose reader takes nothing. */
  readonly cut: () => void;
}

export interface SseDoor {
  open(request: StreamRequest): Promise<Response | Fault>;
  count(): number;
  /** Ends the streams of a device or a named token that was signed out. */
  endHolder(id: string): void;
  close(): void;
}

export interface SsePorts {
  readonly workspace: Workspace;
  readonly clock: Clock;
}

export function openSseDoor(ports: SsePorts): SseDoor {
  const streams = new Set<EventStream>();
  return {
    async open(request) {
      const have = parseEventId(request.lastEventId);
      if (isFault(have)) return have;
      if (streams.size >= streamsMax) return fault("shutting-down", "Too many event streams.", "Close one first.");
      const stream = new EventStream(ports, request, () => streams.delete(stream));
      streams.add(stream);
      const problem = await stream.begin(have);
      if (problem !== null) return problem;
      const headers = { ...dataHeaders, "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
      return new Response(stream.body, { status: 200, headers });
    },
    count: () => streams.size,
    endHolder(id) {
      for (const stream of streams) if (stream.isOf(id)) stream.end({ code: "unauthorized", retryMs: 0 });
    },
    close() {
      for (const stream of streams) stream.end({ code: "shutting-down", retryMs: 1_000 });
    },
  };
}

/** Null without an id: the stream begins with the last page. */
export function parseEventId(text: string | null): Have | Fault {
  if (text === null || text === "") return null;
  const [, name = "", term = "", seq = ""] = /^([A-Za-z0-9_-]{1,64}):(\d{1,15}):(\d{1,15})$/.exec(text) ?? [];
  const log = parseLogId(name);
  if (log === null) {
    return fault("bad-cursor", "Last-Event-ID is not of the form logId:term:seq.", "Leave it out to begin anew.");
  }
  return { log, term: Number(term), seq: Number(seq) };
}

class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #ports: SsePorts;
  readonly #request: StreamRequest;
  readonly #gone: () => void;
  readonly #encoder = new TextEncoder();
  /** Events that the reader has not taken, oldest first. Bounded by the subscription, which asks `buffered`. */
  #waiting: Uint8Array[] = [];
  #buffered = 0;
  #wake: (() => void) | null = null;
  #ended = false;
  #subscription: Subscription | null = null;
  #timer: { cancel(): void } | null = null;

  constructor(ports: SsePorts, request: StreamRequest, gone: () => void) {
    this.#ports = ports;
    this.#request = request;
    this.#gone = gone;
    this.body = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#close() },
      { highWaterMark: 0 },
    );
  }

  async begin(have: Have): Promise<Fault | null> {
    const sink: FrameSink = {
      send: (frame) => this.#send(frame),
      buffered: () => this.#buffered,
      closeSlow: () => this.#slow(),
    };
    const subscription = await this.#ports.workspace.subscribe({ tab: this.#request.tab, have, focus: true }, sink);
    if (isFault(subscription)) {
      this.#close();
      return subscription;
    }
    this.#subscription = subscription;
    if (this.#ended) subscription.close();
    else this.#beat();
    return null;
  }

  isOf(holder: string): boolean {
    return this.#request.holder === holder;
  }

  /** Says why and ends after what waits has been read. */
  end(bye: { readonly code: string; readonly retryMs: number }): void {
    this.#send({ type: "bye", ...bye });
    this.#close();
  }

  #send(frame: Frame): void {
    const id = eventIdOf(frame);
    this.#write(`${id === null ? "" : `id: ${id}\n`}data: ${frameText(frame)}\n\n`);
  }

  #write(text: string): void {
    if (this.#ended) return;
    const bytes = this.#encoder.encode(text);
    this.#waiting.push(bytes);
    this.#buffered += bytes.length;
    this.#wake?.();
  }

  /** Called whenever the reader can take more. */
  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#waiting.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    const next = this.#waiting.shift();
    if (next === undefined) return controller.close();
    this.#buffered -= next.length;
    controller.enqueue(next);
    if (this.#buffered === 0) this.#subscription?.drained();
  }

  /** A comment every interval keeps proxies and readers from taking silence for an end. */
  #beat(): void {
    if (isFault(this.#ports.workspace.get(this.#request.tab))) {
      this.end({ code: "unknown-tab", retryMs: 0 });
      return;
    }
    if (!this.#request.stillHolds()) {
      this.end({ code: "unauthorized", retryMs: 0 });
      return;
    }
    this.#write(": still here\n\n");
    this.#timer = this.#ports.clock.setTimer(limits.pingIntervalMs, () => {
      if (this.#buffered > limits.socketBufferCloseBytes) this.#slow();
      else this.#beat();
    });
  }

  /** What waits is thrown away: the reader resumes from its last id. */
  #slow(): void {
    this.#waiting = [];
    this.#buffered = 0;
    this.#close();
    this.#request.cut();
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#subscription?.close();
    this.#wake?.();
    this.#gone();
  }
}

/** The newest row that a frame carries; an empty log counts as seq 0. */
function eventIdOf(frame: Frame): string | null {
  if (frame.type === "head") {
    const last = frame.rows.at(-1);
    if (last !== undefined) return `${frame.log}:${last.term}:${last.seq}`;
    return frame.tail === 0 ? `${frame.log}:${frame.term}:0` : null;
  }
  if (frame.type !== "ops") return null;
  let id: string | null = null;
  for (const op of frame.ops) if (op.op === "chunk-seal") id = `${frame.log}:${op.row.term}:${op.row.seq}`;
  return id;
}
