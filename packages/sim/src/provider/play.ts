import { assert, unreachable } from "@varve/protocol";
import type { EmittedDelta, GateControl } from "./gate.ts";
import type { CallOutcome } from "./recorded-call.ts";
import type { OpenBlock, Piece } from "./reply-plan.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { Failure, FailurePoint } from "./script.ts";

/** Where an answer goes: the rim of the server. After `gone` every call does nothing. */
export interface Sink {
  /** Sends the 200 header of an event stream. */
  openStream(): void;
  /** Resolves when the caller has taken enough to go on. */
  write(text: string): Promise<void>;
  end(): void;
  /** Cuts the connection once everything that was written has left. */
  destroy(): Promise<void>;
  readonly gone: Promise<void>;
  isGone(): boolean;
}

export interface Performance {
  readonly stream: ReplyStream;
  readonly pieces: readonly Piece[];
  readonly stopReason: string;
  readonly failure: Exclude<Failure, { kind: "status" }> | null;
  /** Deltas after which the call is held; 0 holds it before the first byte. Null: never held. */
  readonly holdAfter: number | null;
  readonly control: GateControl;
  readonly sink: Sink;
}

/** Speaks for one streamed call: `play` performs the script with its holds and its failure, `emit` what the test adds. */
export class Player {
  readonly #show: Performance;
  #begun = false;
  #sent = 0;
  /** The script's open block, and whether the test has since opened one of its own over it. */
  #scripted: OpenBlock | null = null;
  #strayed = false;

  constructor(show: Performance) {
    this.#show = show;
  }

  async play(): Promise<CallOutcome> {
    const { stream, sink, pieces, stopReason, failure } = this.#show;
    const early = (await this.#hold("first")) ?? (await this.#strikeAt("request"));
    if (early !== null) return early;
    await sink.write(this.#begin(true));
    const atStart = (await this.#strikeAt("start")) ?? (await this.#strikeAt(0));
    if (atStart !== null) return atStart;
    for (const piece of pieces) {
      const over = await this.#perform(piece);
      if (over !== null) return over;
    }
    const late = await this.#hold("last");
    if (late !== null) return late;
    // A failure that has not found its place yet (the end, or more deltas than there are) strikes here.
    if (failure !== null) return this.#strike(failure);
    await sink.write(stream.finish(stopReason));
    sink.end();
    return sink.isGone() ? "caller-gone" : "answered";
  }

  emit(delta: EmittedDelta): void {
    const { stream, sink } = this.#show;
    const started = this.#begin(true);
    const opens = stream.openType() !== delta.type;
    assert(!opens || this.#scripted?.type !== "tool_use", "emit cannot open a block inside a tool call");
    this.#strayed ||= opens;
    void sink.write(started + (opens ? stream.open(blockFor(delta)) : "") + stream.delta(delta.text));
  }

  /** Performs one piece; the outcome if the call ends with it, null if it goes on. */
  async #perform(piece: Piece): Promise<CallOutcome | null> {
    const { stream, sink } = this.#show;
    if (piece.kind !== "delta") {
      this.#scripted = piece.kind === "open" ? piece.block : null;
      this.#strayed = false;
      await sink.write(piece.kind === "open" ? stream.open(piece.block) : stream.close());
      return null;
    }
    const over = await this.#hold("delta");
    if (over !== null) return over;
    const reopened = this.#strayed && this.#scripted !== null ? stream.open(this.#scripted) : "";
    this.#strayed = false;
    await sink.write(reopened + stream.delta(piece.text));
    this.#sent += 1;
    return this.#strikeAt(this.#sent);
  }

  /** The header and, unless an error shall be all there is, the opening event: once. */
  #begin(withStart: boolean): string {
    if (this.#begun) return "";
    this.#begun = true;
    this.#show.sink.openStream();
    return withStart ? this.#show.stream.start() : "";
  }

  async #hold(what: "first" | "delta" | "last"): Promise<CallOutcome | null> {
    const { sink, holdAfter, control } = this.#show;
    if (sink.isGone()) return "caller-gone";
    if (holdAfter === null || this.#sent < holdAfter) return null;
    const passage = await control.pass(what);
    if (passage.kind === "fail") return this.#strike(passage.failure);
    return passage.kind === "gone" ? "caller-gone" : null;
  }

  async #strikeAt(point: FailurePoint): Promise<CallOutcome | null> {
    const { failure } = this.#show;
    return failure !== null && failurePoint(failure) === point ? this.#strike(failure) : null;
  }

  #strike(failure: Failure): Promise<CallOutcome> {
    const opened = (): string => this.#begin(failurePoint(failure) !== "request");
    return failAt(failure, this.#show.sink, (type, message) => opened() + this.#show.stream.error(type, message));
  }
}

function failurePoint(failure: Failure): FailurePoint {
  return failure.kind === "status" ? "request" : (failure.at ?? "start");
}

function blockFor(delta: EmittedDelta): OpenBlock {
  switch (delta.type) {
    case "text":
      return { type: "text" };
    case "thinking":
      return { type: "thinking", signature: undefined };
    case "tool_use":
      throw new Error("emit can only go on with a tool call that the script has opened");
    default:
      return unreachable(delta.type);
  }
}

/** Ends a call in the way of the failure. `errorEvent` makes the text of an error event, with the header if it is due. */
async function failAt(
  failure: Failure,
  sink: Sink,
  errorEvent: (errorType: string, message: string) => string,
): Promise<CallOutcome> {
  switch (failure.kind) {
    case "error-event":
      await sink.write(errorEvent(failure.errorType ?? "overloaded_error", failure.message ?? "Overloaded"));
      sink.end();
      return "failed";
    case "cut":
      await sink.destroy();
      return "failed";
    case "clean-end":
      sink.openStream();
      sink.end();
      return "failed";
    case "silence":
      await sink.gone;
      return "caller-gone";
    case "status":
      throw new Error("a status can only be scripted, before anything is sent");
    default:
      return unreachable(failure);
  }
}
